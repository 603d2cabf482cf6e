import { createHash, randomBytes } from "node:crypto";
import type { IdentityProvider } from "./identity-provider.ts";

/** Signs somebody in at the provider, as a browser does, and redeems the code. @returns the ID token */
export async function idTokenOf(
  { issuer, clientId, clientSecret }: IdentityProvider,
  login: string,
  redirectUri: string,
): Promise<string> {
  const verifier = randomBytes(32).toString("base64url");
  const query = new URLSearchParams({
    ...{
      client_id: clientId,
      redirect_uri: redirectUri,
      response_type: "code",
      scope: "openid profile email",
    },
    ...{ code_challenge_method: "S256", code_challenge: hashOf(verifier), state: "s", nonce: "n" },
  });
  const cookies = new Map<string, string>();
  let next = `${issuer}/auth?${query.toString()}`;
  while (!next.startsWith(redirectUri)) {
    const isForm = new URL(next).pathname.startsWith("/interaction/");
    const answer = await fetch(next, {
      redirect: "manual",
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") },
      ...(isForm && { method: "POST", body: new URLSearchParams({ login }) }),
    });
    await answer.body?.cancel();
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      cookies.set(name, value);
    }
    const location = answer.headers.get("location");
    if (location === null) throw new Error(`${next}: ${answer.status}`);
    next = new URL(location, next).href;
  }
  const answer = await fetch(`${issuer}/token`, {
    method: "POST",
    headers: { authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString("base64")}` },
    body: new URLSearchParams({
      ...{ grant_type: "authorization_code", redirect_uri: redirectUri, code_verifier: verifier },
      code: new URL(next).searchParams.get("code") ?? "",
    }),
  });
  const { id_token: token } = (await answer.json()) as { id_token?: string };
  if (token === undefined) throw new Error(`the provider gave no ID token: ${answer.status}`);
  return token;
}

function hashOf(verifier: string): string {
  return createHash("sha256").update(verifier).digest("base64url");
}
