import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { composeEnvironment } from "../../../src/control/compose.ts";
import type { ControlContext, ControlSettings } from "../../../src/control/platform/context.ts";
import type { SandboxSeed } from "../../../src/control/sandbox/seed/types.ts";
import { createSecretBox } from "../../../src/control/platform/secret-box.ts";
import { createUnits } from "../../../src/control/platform/unit.ts";
import { unitWriters } from "../../../src/control/unit-writers.ts";
import { createLog } from "../../../src/telemetry/log.ts";
import { send, TEST_SETTINGS, type Answered, type RunningControl } from "../../support/control.ts";
import { testDatabase, type TestDatabase } from "../../support/database.ts";
import { bearer, makeKey } from "../../support/guarded-control.ts";
import { NO_LIMITS, openKeys } from "../../support/whole-control.ts";
import { closeDatabase } from "../../../src/storage/index.ts";

export const RETURN_URL = "https://app.example.com/signed-in?tenant=1";

export interface SandboxOptions {
  readonly settings?: Partial<ControlSettings>;
  readonly seed?: SandboxSeed;
  /** Of another instance. */
  readonly database?: TestDatabase;
  readonly masterKey?: Uint8Array;
  /** Unix ms. */
  readonly clock?: () => number;
}

/** A sandbox as it is served, with a key of full access that `request` presents. */
export interface Sandbox extends RunningControl {
  readonly masterKey: Uint8Array;
  /** A customer that signs in at the built-in provider. @returns its id */
  customer(more?: object): Promise<string>;
  person(customerId: string | null, more?: object): Promise<{ id: string; email: string }>;
  authorize(customerId: string, more?: object): Promise<{ authorization_url: string; state: string }>;
  post(path: string, body?: object): Promise<Answered>;
  /** The tokens, for what the browser arrived with. */
  exchange(parameters: URLSearchParams): Promise<Answered["body"]>;
}

export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const database = options.database ?? (await testDatabase());
  const masterKey = options.masterKey ?? randomBytes(32);
  const clock = options.clock ?? Date.now;
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const context: ControlContext = {
    settings: {
      ...TEST_SETTINGS,
      environment: "sandbox",
      rateLimits: NO_LIMITS,
      // as it is configured by default: http is for loopback
      allowInsecureIssuers: false,
      publicUrl: url,
      ownUrl: url,
      ...options.settings,
    },
    db: database.db,
    units: createUnits(database.db, unitWriters, clock),
    box: createSecretBox(masterKey),
    clock,
    databaseNow: () => Promise.resolve(new Date(clock())),
    log: createLog({ level: "error", name: "control" }),
  };
  const keys = openKeys(context, database.url);
  const composed = await composeEnvironment(context, { seed: options.seed ?? {}, workloads: { keys } });
  server.on("request", composed.application);
  const running: RunningControl = {
    url,
    context,
    database,
    request: (method, path, request = {}) => send(url, method, path, { as: null, ...request }),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await composed.close();
      await closeDatabase(keys.db);
      if (options.database === undefined) await database.close();
    },
  };
  const { secret } = await makeKey(running);
  const request: Sandbox["request"] = (method, path, given = {}) =>
    running.request(method, path, {
      ...given,
      headers: { ...(given.as === null ? {} : bearer(secret)), ...given.headers },
    });
  const made = async <T>(path: string, body: object): Promise<T> => {
    const answer = await request("POST", path, { body });
    assert.ok(answer.status < 300, `${path}: ${answer.status} ${answer.text}`);
    return answer.body.data as T;
  };
  const post: Sandbox["post"] = (path, body) => request("POST", path, body === undefined ? {} : { body });
  return {
    ...running,
    masterKey,
    request,
    post,
    async exchange(parameters) {
      const answer = await post("/auth/token", { code: parameters.get("code") });
      assert.equal(answer.status, 200, `${parameters.toString()} ${answer.text}`);
      return answer.body.data;
    },
    customer: async (more = {}) =>
      (await made<{ id: string }>("/customers", { name: "Acme", allowed_return_urls: [RETURN_URL], ...more }))
        .id,
    person: (customerId, more = {}) =>
      made("/sandbox/people", {
        customer_id: customerId,
        email: "ada@acme.example",
        name: "Ada",
        role: "admin",
        ...more,
      }),
    authorize: (customerId, more = {}) =>
      made("/auth/authorize", { customer_id: customerId, return_url: RETURN_URL, ...more }),
  };
}

/** What a browser is shown or sent. */
export interface Seen {
  readonly url: string;
  readonly status: number;
  readonly location: string | null;
  readonly html: string;
  readonly headers: Headers;
}

/** A browser, one step at a time. */
export interface Visitor {
  readonly cookies: Map<string, string>;
  get(url: string): Promise<Seen>;
  post(url: string, form: Readonly<Record<string, string>>): Promise<Seen>;
  /** Follows redirects until a page, or an address that is not of `origin`. */
  follow(seen: Seen, origin: string): Promise<Seen>;
  /** From an address to where redirects lead. */
  go(url: string, origin: string): Promise<Seen>;
}

export function createVisitor(): Visitor {
  const cookies = new Map<string, string>();
  const load = async (url: string, init: RequestInit): Promise<Seen> => {
    const answer = await fetch(url, {
      ...init,
      redirect: "manual",
      headers: {
        accept: "text/html",
        "user-agent": "Mozilla/5.0 (visitor)",
        cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; "),
      },
    });
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (value === "" || /expires=Thu, 01 Jan 1970/i.test(cookie)) cookies.delete(name);
      else cookies.set(name, value);
    }
    const location = answer.headers.get("location");
    return {
      url,
      status: answer.status,
      location: location === null ? null : new URL(location, url).href,
      html: await answer.text(),
      headers: answer.headers,
    };
  };
  const visitor: Visitor = {
    cookies,
    get: (url) => load(url, {}),
    post: (url, form) => load(url, { method: "POST", body: new URLSearchParams({ ...form }) }),
    async follow(seen, origin) {
      let at = seen;
      for (let step = 0; step < 15 && at.location?.startsWith(origin) === true; step += 1)
        at = await visitor.get(at.location);
      return at;
    },
    go: async (url, origin) => visitor.follow(await visitor.get(url), origin),
  };
  return visitor;
}

/** The parameters that the browser takes to the application. */
export function arrivedWith({ location, html }: Seen): URLSearchParams {
  assert.ok(location?.startsWith(RETURN_URL), `${location ?? "nowhere"} ${html}`);
  return new URL(location ?? "").searchParams;
}
