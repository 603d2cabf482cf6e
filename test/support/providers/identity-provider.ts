import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair } from "jose";
import Provider, { type Configuration } from "oidc-provider";

/** Somebody who can sign in at a provider. */
export interface TestUser {
  /** What UserInfo says; `sub` is the name that they sign in with. */
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly amr?: readonly string[];
  readonly acr?: string;
  /** Unix seconds; now when absent. */
  readonly authTime?: number;
}

/** A real OpenID Provider (the npm package `oidc-provider`) with a login form and one client. */
export interface IdentityProvider {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** By the name that they sign in with; can be changed at any time. */
  readonly users: Map<string, TestUser>;
  close(): Promise<void>;
}

export interface IdentityProviderOptions {
  /** Where it sends browsers back to. */
  readonly redirectUri: string;
  readonly postLogoutRedirectUris?: readonly string[];
  /** The ID token holds `auth_time` even if nobody asks for it. */
  readonly alwaysAuthTime?: boolean;
  /** Claims stand in the ID token, not only in UserInfo. */
  readonly claimsInIdToken?: boolean;
}

export async function startIdentityProvider(options: IdentityProviderOptions): Promise<IdentityProvider> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const users = new Map<string, TestUser>([["alice", {}]]);
  const clientId = "gatehouse";
  const clientSecret = randomBytes(24).toString("base64url");
  const provider = new Provider(issuer, await configuration({ ...options, users, clientId, clientSecret }));
  const serve = provider.callback();
  server.on("request", (request, response) => {
    const interaction = request.url?.startsWith("/interaction/") ?? false;
    void (interaction ? interact(provider, users, request, response) : serve(request, response));
  });
  return {
    issuer,
    clientId,
    clientSecret,
    users,
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => {
          resolve();
        });
      }),
  };
}

async function configuration({
  redirectUri,
  postLogoutRedirectUris = [],
  alwaysAuthTime = false,
  claimsInIdToken = false,
  users,
  clientId,
  clientSecret,
}: IdentityProviderOptions &
  Pick<IdentityProvider, "users" | "clientId" | "clientSecret">): Promise<Configuration> {
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  return {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [redirectUri],
        post_logout_redirect_uris: [...postLogoutRedirectUris],
        grant_types: ["authorization_code"],
        response_types: ["code"],
        require_auth_time: alwaysAuthTime,
      },
    ],
    jwks: {
      keys: [
        { ...(await exportJWK(privateKey)), alg: "RS256", use: "sig", kid: randomBytes(8).toString("hex") },
      ],
    },
    cookies: { keys: [randomBytes(24).toString("hex")] },
    pkce: { required: () => true },
    conformIdTokenClaims: !claimsInIdToken,
    features: { devInteractions: { enabled: false } },
    scopes: ["openid", "profile", "email", "groups"],
    claims: {
      openid: ["sub", "amr", "acr"],
      profile: [
        "name",
        "department",
        "role",
        "roles",
        "permissions",
        "assigned_customers",
        "app",
        "realm_access",
        "https://example.com/level",
      ],
      email: ["email", "email_verified"],
      groups: ["groups"],
    },
    ttl: { Session: 3600, Interaction: 600, Grant: 3600, AccessToken: 600, IdToken: 600 },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    findAccount: (_context, sub) =>
      users.has(sub) ? { accountId: sub, claims: () => ({ ...users.get(sub)?.claims, sub }) } : undefined,
    // everybody agrees to everything
    async loadExistingGrant(context) {
      const { client, session, params } = context.oidc;
      const grant = new context.oidc.provider.Grant({
        clientId: client!.clientId,
        accountId: session!.accountId!,
      });
      grant.addOIDCScope(String(params!["scope"]));
      await grant.save();
      return grant;
    },
  };
}

/** The login form, and what becomes of it: a name signs in, no name is a refusal of the user's. */
async function interact(
  provider: Provider,
  users: IdentityProvider["users"],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method !== "POST") {
    response.setHeader("content-type", "text/html");
    response.end(`<form method="post" action="${request.url ?? ""}"><input name="login"></form>`);
    return;
  }
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const login = new URLSearchParams(Buffer.concat(chunks).toString()).get("login") ?? "";
  const user = users.get(login);
  const result =
    user === undefined
      ? { error: "access_denied", error_description: "nobody\nof that name" }
      : {
          login: {
            accountId: login,
            remember: false,
            ...(user.amr !== undefined && { amr: [...user.amr] }),
            ...(user.acr !== undefined && { acr: user.acr }),
            ...(user.authTime !== undefined && { ts: user.authTime }),
          },
        };
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
}
