import type { webcrypto } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { CompactSign, exportJWK, generateKeyPair, SignJWT, type JWTPayload } from "jose";

/** What an identity provider can do wrong; each member stands for the honest step. */
export interface Misbehaviour {
  /** The ID token's claims. */
  readonly claims?: (honest: JWTPayload) => JWTPayload;
  /** The ID token itself. */
  readonly idToken?: (honest: string) => string;
  /** Signs with a key that it does not publish. */
  readonly foreignKey?: boolean;
  /** The parameters that the browser brings back. */
  readonly answer?: (honest: URLSearchParams) => URLSearchParams;
  readonly discovery?: (honest: Readonly<Record<string, unknown>>) => object;
  readonly userInfo?: (honest: Readonly<Record<string, unknown>>) => object;
  /** UserInfo as a signed token: the very text of its payload. */
  readonly signedUserInfo?: { readonly payload: string; readonly foreignKey?: boolean };
  /** Answers the token request by itself. */
  readonly token?: (response: ServerResponse) => void;
}

/** An OpenID Provider that signs everybody in at once, as honestly as it is told to. */
export interface HostileProvider {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Codes that were brought to its token endpoint. */
  readonly received: { readonly code: string | null; readonly verifier: string | null }[];
  behave(misbehaviour: Misbehaviour): void;
  close(): Promise<void>;
}

interface Flow {
  readonly nonce: string | null;
  readonly clientId: string | null;
}

export async function startHostileProvider(): Promise<HostileProvider> {
  let how: Misbehaviour = {};
  const received: HostileProvider["received"] = [];
  const flows = new Map<string, Flow>();
  const own = await generateKeyPair("RS256");
  const foreign = await generateKeyPair("RS256");
  const jwk = { ...(await exportJWK(own.publicKey)), kid: "own", alg: "RS256", use: "sig" };

  const idToken = async ({ nonce, clientId }: Flow, key: webcrypto.CryptoKey) => {
    const now = Math.floor(Date.now() / 1000);
    const honest = {
      iss: issuer,
      sub: "mallory",
      aud: clientId,
      nonce,
      iat: now,
      exp: now + 300,
      auth_time: now,
    };
    const claims = (how.claims ?? ((given: JWTPayload) => given))(honest as JWTPayload);
    const token = await new SignJWT(claims).setProtectedHeader({ alg: "RS256", kid: "own" }).sign(key);
    return how.idToken?.(token) ?? token;
  };

  async function token(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const form = new URLSearchParams(Buffer.concat(chunks).toString());
    received.push({ code: form.get("code"), verifier: form.get("code_verifier") });
    if (how.token !== undefined) {
      how.token(response);
      return;
    }
    const flow = flows.get(form.get("code") ?? "");
    if (flow === undefined) {
      json(response, { error: "invalid_grant" }, 400);
      return;
    }
    const key = how.foreignKey === true ? foreign.privateKey : own.privateKey;
    json(response, {
      access_token: "opaque",
      token_type: "Bearer",
      expires_in: 60,
      id_token: await idToken(flow, key),
    });
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", issuer);
    const honest = {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
      userinfo_endpoint: `${issuer}/userinfo`,
      response_types_supported: ["code"],
      code_challenge_methods_supported: ["S256"],
      authorization_response_iss_parameter_supported: true,
    };
    switch (url.pathname) {
      case "/.well-known/openid-configuration":
        json(response, how.discovery?.(honest) ?? honest);
        return;
      case "/jwks":
        json(response, { keys: [jwk] });
        return;
      case "/userinfo":
        if (how.signedUserInfo !== undefined) {
          const { payload, foreignKey = false } = how.signedUserInfo;
          const key = foreignKey ? foreign.privateKey : own.privateKey;
          const jwt = await new CompactSign(new TextEncoder().encode(payload))
            .setProtectedHeader({ alg: "RS256", kid: "own" })
            .sign(key);
          response.writeHead(200, { "content-type": "application/jwt" }).end(jwt);
          return;
        }
        json(response, how.userInfo?.({ sub: "mallory" }) ?? { sub: "mallory" });
        return;
      case "/token":
        await token(request, response);
        return;
      case "/authorize": {
        const asked = url.searchParams;
        const code = `code-${flows.size}`;
        flows.set(code, { nonce: asked.get("nonce"), clientId: asked.get("client_id") });
        const parameters = new URLSearchParams({ code, state: asked.get("state") ?? "", iss: issuer });
        const back = (how.answer?.(parameters) ?? parameters).toString();
        response.writeHead(303, { location: `${asked.get("redirect_uri") ?? ""}?${back}` }).end();
        return;
      }
      default:
        json(response, {}, 404);
    }
  }

  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    issuer,
    clientId: "gatehouse",
    clientSecret: "a-secret-for-tests-only",
    received,
    behave(misbehaviour) {
      how = misbehaviour;
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

function json(response: ServerResponse, body: object, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
