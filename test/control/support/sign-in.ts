import assert from "node:assert/strict";
import type { Actor } from "../../../src/control/platform/actor.ts";
import { clientRoutes } from "../../../src/control/resources/clients/routes.ts";
import { customerRoutes } from "../../../src/control/resources/customers/routes.ts";
import type { StoredEvent } from "../../../src/control/platform/events.ts";
import { appendGatewayChanges } from "../../../src/control/gateway/append.ts";
import type { GatewayChange } from "../../../src/control/platform/gateway-change.ts";
import { wellKnownRouter } from "../../../src/control/sign-in/oauth/well-known.ts";
import { oauthRouter } from "../../../src/control/sign-in/oauth/router.ts";
import { policyRoutes } from "../../../src/control/resources/policies/routes.ts";
import { sessionRoutes } from "../../../src/control/resources/sessions/routes.ts";
import { signInRoutes } from "../../../src/control/sign-in/routes.ts";
import type { StoredChange } from "../../../src/control/platform/unit.ts";
import { userRoutes } from "../../../src/control/resources/users/routes.ts";
import {
  FULL_KEY,
  startControl,
  type Answered,
  type ControlOptions,
  type RunningControl,
} from "../../support/control.ts";
import { startIdentityProvider, type IdentityProvider } from "../../support/providers/identity-provider.ts";
import { createBrowser } from "../../support/sign-in.ts";
import { ANY_CLAIMS } from "./claims.ts";

export const RETURN_URL = "https://app.example.com/signed-in?tenant=1";

/** A key that may do nothing but sign users in. */
export const SIGN_IN_KEY: Extract<Actor, { kind: "api_key" }> = {
  ...FULL_KEY,
  id: "key_signin",
  scope: "authentication",
};
export const OTHER_KEY: Actor = { ...SIGN_IN_KEY, id: "key_other" };

/** What `authorize` answers. */
export interface Started {
  readonly authorization_url: string;
  readonly state: string;
  readonly expires_in: number;
}

/** What `token` and `refresh` answer. */
export interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly id_token: string;
  readonly expires_in: number;
  readonly refresh_expires_in: number;
  readonly scope: string;
  readonly user: { readonly id: string } & Record<string, unknown>;
  readonly session: { readonly id: string } & Record<string, unknown>;
}

/** The parts of the API that a sign-in meets, with a real provider and a customer that signs in there. */
export interface SignInBench extends RunningControl {
  readonly provider: IdentityProvider;
  readonly events: StoredEvent[];
  readonly told: GatewayChange[];
  readonly changes: StoredChange[];
  forget(): void;
  /**
   * Makes a customer with this identity provider.
   *
   * @param fields - of the customer; default: its provider may say anything
   * @returns its id
   */
  customer(
    provider?: Pick<IdentityProvider, "issuer" | "clientId" | "clientSecret">,
    more?: object,
    fields?: object,
  ): Promise<string>;
  /** Assigns a new `authentication` policy. @returns its id */
  policy(customerId: string, conditions: object): Promise<string>;
  authorize(customerId: string, more?: object): Promise<Started>;
  /** From `authorize` to the return URL. @returns its parameters */
  arrive(customerId: string, options?: ArriveOptions): Promise<URLSearchParams>;
  /** Exchanges the code of an arrival. */
  exchange(parameters: URLSearchParams, more?: object, as?: Actor): Promise<Answered>;
  refresh(token: string, as?: Actor): Promise<Answered>;
  /** The whole sign-in. */
  signIn(customerId: string, options?: ArriveOptions): Promise<Tokens>;
}

export interface ArriveOptions {
  readonly login?: string;
  readonly more?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

export async function startSignInBench(
  options: ControlOptions & { readonly provider?: object } = {},
): Promise<SignInBench> {
  const events: StoredEvent[] = [];
  const told: GatewayChange[] = [];
  const changes: StoredChange[] = [];
  const keep =
    <T>(list: T[]) =>
    (_trx: unknown, added: readonly T[]) => {
      list.push(...added);
      return Promise.resolve();
    };
  const control = await startControl({
    routes: (context, shared) => [
      ...customerRoutes(context),
      ...policyRoutes(context),
      ...userRoutes(context),
      ...signInRoutes(context, shared),
      ...sessionRoutes(context),
      ...clientRoutes(context),
    ],
    beside: (context, parts) => [wellKnownRouter(context, parts), oauthRouter(context, parts)],
    ...options,
    writers: {
      changes: keep(changes),
      events: keep(events),
      deliveries: () => Promise.resolve(),
      gateways: async (trx, added) => {
        told.push(...added);
        await appendGatewayChanges(trx, added);
      },
    },
  });
  const provider = await startIdentityProvider({
    redirectUri: `${control.url}/v1/auth/callback`,
    ...options.provider,
  });

  const manage = async (method: string, path: string, body: unknown) => {
    const answer = await control.request(method, path, { body });
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.body.data as { id: string };
  };
  const as = SIGN_IN_KEY;

  const bench: SignInBench = {
    ...control,
    provider,
    events,
    told,
    changes,
    forget() {
      for (const list of [events, told, changes]) list.length = 0;
    },
    async customer(idp = provider, more = {}, fields = ANY_CLAIMS) {
      const { id } = await manage("POST", "/customers", {
        name: "Acme",
        allowed_return_urls: [RETURN_URL],
        ...fields,
      });
      await manage("POST", `/customers/${id}/idp`, {
        type: "oidc",
        domain: idp.issuer,
        client_id: idp.clientId,
        client_secret: idp.clientSecret,
        scopes: ["openid", "profile", "email", "groups"],
        ...more,
      });
      return id;
    },
    async policy(customerId, conditions) {
      const { id } = await manage("POST", "/policies", { name: "p", type: "authentication", conditions });
      await manage("POST", `/customers/${customerId}/policies`, { policy_ids: [id] });
      return id;
    },
    async authorize(customerId, more = {}) {
      const body = { customer_id: customerId, return_url: RETURN_URL, ...more };
      const answer = await control.request("POST", "/auth/authorize", { as, body });
      assert.equal(answer.status, 200, answer.text);
      return answer.body.data as Started;
    },
    async arrive(customerId, { login, more, headers } = {}) {
      const { authorization_url: url } = await bench.authorize(customerId, more);
      const arrived = await createBrowser(headers).walk(url, {
        until: "https://app.example.com/",
        ...(login !== undefined && { login }),
      });
      assert.equal(arrived.kind, "sent", JSON.stringify(arrived));
      return arrived.url.searchParams;
    },
    exchange: (parameters, more = {}, by = as) =>
      control.request("POST", "/auth/token", { as: by, body: { code: parameters.get("code"), ...more } }),
    refresh: (token, by = as) =>
      control.request("POST", "/auth/refresh", { as: by, body: { refresh_token: token } }),
    async signIn(customerId, given) {
      const parameters = await bench.arrive(customerId, given);
      const answer = await bench.exchange(parameters);
      assert.equal(answer.status, 200, `${parameters.toString()} ${answer.text}`);
      return answer.body.data as Tokens;
    },
    async close() {
      await provider.close();
      await control.close();
    },
  };
  return bench;
}

/** Status and code of a refusal. */
export function told(answer: Answered): readonly [number, unknown] {
  return [answer.status, answer.body?.error?.code];
}
