import assert from "node:assert/strict";
import type { Actor } from "../../../src/control/platform/actor.ts";
import type { ControlContext } from "../../../src/control/platform/context.ts";
import type { RateGroup } from "../../../src/control/platform/frame/route.ts";
import { ApiError } from "../../../src/control/platform/errors.ts";
import { believing, OWNER } from "../../support/control.ts";
import { SIGN_IN_KEY, startSignInBench, type SignInBench } from "./sign-in.ts";

export const HOUR = 3_600_000;

export interface Credentials {
  readonly id: string;
  readonly secret: string;
}
type Headers = Readonly<Record<string, string>>;

export interface OAuthAnswer {
  readonly status: number;
  readonly headers: globalThis.Headers;
  readonly text: string;
  /** Parsed where it is JSON, else `undefined`. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- what an answer holds is what tests find out
  readonly body: any;
}

/** The OAuth endpoints, beside what a sign-in meets. */
export interface OAuthBench extends SignInBench {
  /** A customer that users sign in to, and another one. */
  readonly customerId: string;
  readonly otherId: string;
  /** What was counted, and who. */
  readonly counted: (readonly [RateGroup, string])[];
  /** The clock is this much ahead. */
  skip: number;
  /** Nobody has a request left. */
  limited: boolean;
  /** The key is revoked just before a unit of work commits. */
  revoked: "no" | "at commit" | "yes";
  reset(): void;
  /** Sends a form, as {@link KEY} unless told otherwise; `path` from `/oauth2` on. Redirects are not followed. */
  ask(path: string, form: Headers | string, headers?: Headers, method?: string): Promise<OAuthAnswer>;
  introspect(token: string, as?: Credentials): Promise<Record<string, unknown>>;
  userInfo(token: string | undefined, headers?: Headers): Promise<OAuthAnswer>;
  /** Makes a machine client. */
  machine(fields?: object): Promise<Credentials & { readonly etag: string }>;
  /** Its access token. */
  tokenFor(client: Credentials, more?: object): Promise<string>;
}

/** A key as an OAuth client. */
export function clientOf(key: Actor): Credentials {
  return { id: key.id, secret: Buffer.from(JSON.stringify(key)).toString("base64url") };
}

export const KEY = clientOf(SIGN_IN_KEY);

/** A key that is limited to one customer. */
export function limitedTo(customerId: string): Credentials {
  return clientOf({ ...SIGN_IN_KEY, id: "key_limited", customerId });
}

/** `client_secret_basic` (RFC 6749, section 2.3.1). */
export function basic({ id, secret }: Credentials): Headers {
  const text = `${encodeURIComponent(id)}:${encodeURIComponent(secret)}`;
  return { authorization: `Basic ${Buffer.from(text).toString("base64")}` };
}

/** Status and code of a refusal. */
export function refusal({ status, body }: OAuthAnswer): readonly [number, unknown] {
  return [status, body?.error];
}

export async function startOAuthBench(
  settings: Partial<ControlContext["settings"]> = {},
): Promise<OAuthBench> {
  const state: Pick<OAuthBench, "skip" | "limited" | "revoked"> = { skip: 0, limited: false, revoked: "no" };
  const counted: (readonly [RateGroup, string])[] = [];
  const signIn = await startSignInBench({
    settings,
    clock: () => Date.now() + state.skip,
    authenticator: () => ({
      ...believing,
      identifyKey: async (...presented) =>
        state.revoked === "yes" ? new ApiError("API_KEY_REVOKED") : believing.identifyKey(...presented),
      lockCredentials() {
        if (state.revoked === "at commit") state.revoked = "yes";
        return Promise.resolve();
      },
    }),
    limiter: () => ({
      take(group, subject) {
        counted.push([group, subject]);
        return Promise.resolve({ allowed: !state.limited, limit: 7, remaining: 3, resetAt: 0 });
      },
      close: () => Promise.resolve(),
    }),
  });
  signIn.provider.users.set("alice", {
    claims: { name: "Alice", email: "alice@acme.example", groups: ["staff"] },
    amr: ["pwd"],
  });
  const bench: OAuthBench = {
    ...signIn,
    customerId: await signIn.customer(),
    otherId: await signIn.customer(),
    counted,
    get skip() {
      return state.skip;
    },
    set skip(ms) {
      state.skip = ms;
    },
    get limited() {
      return state.limited;
    },
    set limited(limited) {
      state.limited = limited;
    },
    get revoked() {
      return state.revoked;
    },
    set revoked(revoked) {
      state.revoked = revoked;
    },
    reset() {
      Object.assign(state, { skip: 0, limited: false, revoked: "no" });
      signIn.forget();
    },
    async ask(path, form, headers = basic(KEY), method = "POST") {
      const body = typeof form === "string" ? form : new URLSearchParams(form).toString();
      const answer = await fetch(`${signIn.url}/oauth2${path}`, {
        method,
        redirect: "manual",
        headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
        ...(!["GET", "HEAD"].includes(method) && { body }),
      });
      const text = await answer.text();
      const json = answer.headers.get("content-type")?.startsWith("application/json") === true;
      const read: unknown = json && text !== "" ? JSON.parse(text) : undefined;
      return { status: answer.status, headers: answer.headers, text, body: read };
    },
    introspect: async (token, as = KEY) =>
      (await bench.ask("/introspect", { token }, basic(as))).body as Record<string, unknown>,
    userInfo: (token, headers = {}) =>
      bench.ask(
        "/userinfo",
        "",
        { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers },
        "GET",
      ),
    async machine(fields = {}) {
      const answer = await signIn.request("POST", "/clients", {
        as: OWNER,
        body: { name: "reports", scopes: ["reports:read", "reports:write"], ...fields },
      });
      assert.equal(answer.status, 201, answer.text);
      const { id, client_secret: secret } = answer.body.data as { id: string; client_secret: string };
      return { id, secret, etag: answer.headers.get("etag") ?? "" };
    },
    async tokenFor(client, more = {}) {
      const answer = await bench.ask("/token", { grant_type: "client_credentials", ...more }, basic(client));
      assert.equal(answer.status, 200, answer.text);
      return answer.body.access_token as string;
    },
  };
  return bench;
}
