import { KeyObject, sign } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT, type JWTPayload } from "jose";

/** An issuer of access tokens like a control plane's, which can be told to be wrong. */
export interface TokenIssuer {
  readonly url: string;
  /** How often the keys were asked for. */
  readonly asked: () => number;
  /** Whether it answers. */
  available: boolean;
  /** Publishes another key and signs with it from now on. */
  rotate(): Promise<void>;
  token(claims?: JWTPayload, header?: Readonly<Record<string, unknown>>): Promise<string>;
  /** Signs any text as if it were the header or the payload of a token, which are given before they are encoded. */
  sign(header: string, payload: string): string;
  /** The published key. */
  publicKey(): KeyObject;
  close(): Promise<void>;
}

export async function startTokenIssuer(): Promise<TokenIssuer> {
  let asked = 0;
  let made = 0;
  let kid = "";
  let pair = await generateKeyPair("ES256", { extractable: true });
  let keys: object[] = [];
  const server = createServer((_request, response) => {
    asked += 1;
    if (issuer.available) response.end(JSON.stringify({ keys }));
    else response.writeHead(503).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const issuer: TokenIssuer = {
    url,
    asked: () => asked,
    available: true,
    async rotate() {
      pair = await generateKeyPair("ES256", { extractable: true });
      made += 1;
      kid = `key-${made}`;
      keys = [{ ...(await exportJWK(pair.publicKey)), kid, alg: "ES256", use: "sig" }];
    },
    token: (claims = {}, header = {}) =>
      new SignJWT({ customer_id: "cus_1", principal_type: "user", sid: "ses_1", ...claims })
        .setProtectedHeader({ alg: "ES256", typ: "at+jwt", kid, ...header })
        .setIssuer(claims.iss ?? url)
        .setAudience(claims.aud ?? "gatehouse")
        .setSubject(claims.sub ?? "usr_1")
        .setIssuedAt(claims.iat)
        .setExpirationTime(claims.exp ?? "5m")
        .sign(pair.privateKey),
    sign(header, payload) {
      const signed = [header, payload].map((part) => Buffer.from(part).toString("base64url")).join(".");
      const key = { key: KeyObject.from(pair.privateKey), dsaEncoding: "ieee-p1363" } as const;
      return `${signed}.${sign("sha256", Buffer.from(signed), key).toString("base64url")}`;
    },
    publicKey: () => KeyObject.from(pair.publicKey),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  await issuer.rotate();
  return issuer;
}
