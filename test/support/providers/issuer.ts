import type { webcrypto } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT, type JWK, type JWTPayload } from "jose";

/** A small real issuer: discovery and JWKS over HTTP, and tokens signed by its keys. */
export interface TestIssuer {
  readonly url: string;
  readonly audience: string;
  /** How often the JWKS was fetched. */
  readonly fetches: () => number;
  readonly publicKeys: () => readonly JWK[];
  token(claims?: JWTPayload, header?: Record<string, unknown>): Promise<string>;
  /** Signs with a new key from now on; the old one stays published unless `forget`. */
  rotate(options?: { readonly forget?: boolean }): Promise<void>;
  close(): Promise<void>;
}

export async function startIssuer(): Promise<TestIssuer> {
  const audience = "test-api";
  let keys: { kid: string; jwk: JWK; privateKey: webcrypto.CryptoKey }[] = [];
  let serial = 0;
  let fetches = 0;
  const addKey = async () => {
    const kid = `key-${(serial += 1)}`;
    const { publicKey, privateKey } = await generateKeyPair("ES256");
    keys.push({ kid, jwk: { ...(await exportJWK(publicKey)), kid, alg: "ES256", use: "sig" }, privateKey });
  };
  await addKey();

  const server: Server = createServer((request, response) => {
    response.setHeader("content-type", "application/json");
    if (request.url === "/.well-known/openid-configuration") {
      response.end(JSON.stringify({ issuer: url, jwks_uri: `${url}/jwks` }));
    } else if (request.url === "/jwks") {
      fetches += 1;
      response.end(JSON.stringify({ keys: keys.map(({ jwk }) => jwk) }));
    } else {
      response.writeHead(404).end("{}");
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    url,
    audience,
    fetches: () => fetches,
    publicKeys: () => keys.map(({ jwk }) => jwk),
    async token(claims = {}, header = {}) {
      const key = keys.at(-1)!;
      const now = Math.floor(Date.now() / 1000);
      const payload = { iss: url, aud: audience, sub: "u-1", iat: now, exp: now + 600, ...claims };
      return new SignJWT(payload)
        .setProtectedHeader({ alg: "ES256", kid: key.kid, ...header })
        .sign(key.privateKey);
    },
    async rotate({ forget = false } = {}) {
      if (forget) keys = [];
      await addKey();
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => {
          resolve();
        });
      }),
  };
}
