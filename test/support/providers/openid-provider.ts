import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import Provider from "oidc-provider";

/** The OpenID Provider of the npm package `oidc-provider`, giving JWT access tokens to clients named as asked. */
export interface OpenIdProvider {
  readonly issuer: string;
  readonly audience: string;
  /** A real access token (RFC 9068) whose `sub` is `subject`. */
  token(subject: string): Promise<string>;
  close(): Promise<void>;
}

export async function startOpenIdProvider(): Promise<OpenIdProvider> {
  const audience = "urn:test:api";
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const clients = ["reader", "writer"].map((client_id) => ({
    client_id,
    client_secret: "a-secret-for-tests-only",
    grant_types: ["client_credentials"],
    redirect_uris: [],
    response_types: [],
  }));
  const provider = new Provider(issuer, {
    clients,
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({ scope: "", audience, accessTokenFormat: "jwt", accessTokenTTL: 600 }),
      },
    },
  });
  server.on("request", (request, response) => void provider.callback()(request, response));

  return {
    issuer,
    audience,
    async token(subject) {
      const answer = await fetch(`${issuer}/token`, {
        method: "POST",
        headers: {
          authorization: `Basic ${Buffer.from(`${subject}:a-secret-for-tests-only`).toString("base64")}`,
        },
        body: new URLSearchParams({ grant_type: "client_credentials", resource: audience }),
      });
      const body = (await answer.json()) as { access_token?: string };
      if (body.access_token === undefined) throw new Error(`no token: ${JSON.stringify(body)}`);
      return body.access_token;
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
