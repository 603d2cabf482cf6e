import assert from "node:assert/strict";
import type { Answered } from "../../support/control.ts";
import { bearer, makeKey, send, type Person } from "../../support/guarded-control.ts";
import { startIdentityProvider, type IdentityProvider } from "../../support/providers/identity-provider.ts";
import { createBrowser } from "../../support/sign-in.ts";
import { startWholeControl, type WholeControl, type WholeOptions } from "../../support/whole-control.ts";

type Headers = Readonly<Record<string, string>>;

export const BACK = "https://app.example.com/signed-in";

/** A whole environment with a real provider, as the specification's rows are tried on it. */
export interface Specified {
  readonly control: WholeControl;
  readonly provider: IdentityProvider;
  readonly owner: Person;
  /** A key with full access; only what is about limits knows others. */
  readonly key: Headers;
  readonly keyId: string;
  call(method: string, path: string, body?: unknown, headers?: Headers): Promise<Answered>;
  /** Calls and takes `data`; anything but success fails. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- what an answer holds is what tests find out
  data(method: string, path: string, body?: unknown, headers?: Headers): Promise<any>;
  /** Makes a customer whose users sign in at the provider. @returns its id */
  customer(name?: string): Promise<string>;
  /** From authorize to the return URL. @returns its parameters */
  arrive(customerId: string, login?: string): Promise<URLSearchParams>;
  close(): Promise<void>;
}

export async function startSpecified(options: WholeOptions = {}): Promise<Specified> {
  const control = await startWholeControl(options);
  const provider = await startIdentityProvider({ redirectUri: `${control.url}/v1/auth/callback` });
  provider.users.set("alice", {
    claims: { email: "alice@example.com", email_verified: true, name: "Alice", role: "admin" },
    amr: ["pwd"],
  });
  const owner = await control.owner();
  const { row, secret } = await makeKey(control);
  const key = bearer(secret);
  const specified: Specified = {
    control,
    provider,
    owner,
    key,
    keyId: row.id,
    call: (method, path, body, headers = key) => send(control, method, path, headers, body),
    async data(method, path, body, headers) {
      const answer = await specified.call(method, path, body, headers);
      assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`);
      return answer.body.data;
    },
    async customer(name = "Acme") {
      const { id } = await specified.data("POST", "/customers", {
        name,
        allowed_return_urls: [BACK],
        allowed_roles: ["admin"],
      });
      await specified.data("POST", `/customers/${id}/idp`, idpBody(provider));
      return id as string;
    },
    async arrive(customerId, login = "alice") {
      const { authorization_url: url } = await specified.data("POST", "/auth/authorize", {
        customer_id: customerId,
        return_url: BACK,
        scopes: ["profile", "email", "groups"],
      });
      const arrived = await createBrowser().walk(url, { until: BACK, login });
      assert.equal(arrived.kind, "sent", JSON.stringify(arrived));
      return arrived.url.searchParams;
    },
    async close() {
      await provider.close();
      await control.close();
    },
  };
  return specified;
}

/** The body of specification 2.3. */
export function idpBody(provider: IdentityProvider): Record<string, unknown> {
  return {
    type: "oidc",
    domain: provider.issuer,
    client_id: provider.clientId,
    client_secret: provider.clientSecret,
    scopes: ["openid", "profile", "email", "groups"],
  };
}
