import { cookieName } from "../../src/control/resources/dashboard-users/session-cookie.ts";
import { randomBytes } from "node:crypto";
import type { AddressInfo } from "node:net";
import type { Request, Router } from "express";
import type { Actor } from "../../src/control/platform/actor.ts";
import type { BackgroundWork, ControlContext, ControlSettings } from "../../src/control/platform/context.ts";
import { ApiError } from "../../src/control/platform/errors.ts";
import type { Authenticator } from "../../src/control/platform/frame/authenticator.ts";
import type { ExportLimits } from "../../src/control/platform/frame/export-turns.ts";
import type { RateLimiter } from "../../src/control/platform/frame/rate-limiter.ts";
import type { Route } from "../../src/control/platform/frame/route.ts";
import { createApiServer } from "../../src/control/platform/frame/serve-on.ts";
import { createApplication } from "../../src/control/platform/frame/server.ts";
import { createKeyring, type Keyring } from "../../src/control/sign-in/issuer/keyring.ts";
import type { OAuthParts } from "../../src/control/sign-in/oauth/router.ts";
import {
  createPolicySetCompiler,
  type PolicySetCompiler,
} from "../../src/control/resources/policy-sets/compiler.ts";
import { createSecretBox } from "../../src/control/platform/secret-box.ts";
import { createUnits, type UnitWriters } from "../../src/control/platform/unit.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { testDatabase, type TestDatabase } from "./database.ts";

/** Settings for tests: short of nothing, and with providers and receivers on loopback. */
export const TEST_SETTINGS: Omit<ControlSettings, "publicUrl"> = {
  environment: "production",
  audience: "gatehouse",
  accessTokenSeconds: 900,
  refreshTokenSeconds: 86_400,
  sessionSeconds: 43_200,
  sessionsPerUser: 100,
  signingKeySeconds: 30 * 86_400,
  allowInsecureIssuers: true,
  trustedProxies: [],
  rateLimits: { authentication: 1_000, management: 500, analytics: 100 },
  webhooks: { allowPrivateTargets: true, timeoutMs: 10_000, retryForMs: 86_400_000 },
  retention: {
    auditMs: 90 * 86_400_000,
    inputsMs: 7 * 86_400_000,
    eventsMs: 90 * 86_400_000,
    deletedMs: 30 * 86_400_000,
  },
};

/** A person of the dashboard who may do everything. */
export const OWNER: Extract<Actor, { kind: "dashboard_user" }> = {
  kind: "dashboard_user",
  id: "adm_00000000000000000000000001",
  name: "owner",
  role: "owner",
  sessionId: "none",
};

/** A key that may do everything that keys may. */
export const FULL_KEY: Extract<Actor, { kind: "api_key" }> = {
  kind: "api_key",
  id: "key_00000000000000000000000001",
  name: "full",
  scope: "full_access",
};

/** What routes share, as the composition makes it. */
export interface SharedParts {
  readonly keyring: Keyring;
  readonly compile: PolicySetCompiler;
}

export interface ControlOptions {
  readonly settings?: Partial<ControlSettings>;
  /** Unix ms. */
  readonly clock?: () => number;
  /** Default: as `clock`, so that tests decide what time it is. */
  readonly databaseNow?: ControlContext["databaseNow"];
  /** A database that is there already: for two instances on one. */
  readonly database?: TestDatabase;
  /** Only these routes; default: all. */
  readonly routes?: (context: ControlContext, shared: SharedParts) => readonly Route[];
  readonly beside?: (context: ControlContext, parts: OAuthParts) => readonly Router[];
  /** In place of the one that believes what {@link RunningControl.request} says. */
  readonly authenticator?: (context: ControlContext) => Authenticator;
  readonly limiter?: (context: ControlContext) => RateLimiter;
  readonly writers?: Partial<UnitWriters>;
  readonly exportLimits?: ExportLimits;
  /** Of the secret box; two instances share it. */
  readonly masterKey?: Uint8Array;
  /** Open besides. */
  readonly previousKeys?: readonly Uint8Array[];
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Parsed where it is JSON, else `undefined`. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- what an answer holds is what tests find out
  readonly body: any;
}

export interface RequestOptions {
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Default: {@link FULL_KEY}. `null`: nobody. */
  readonly as?: Actor | null;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface RunningControl {
  /** Without `/v1`. */
  readonly url: string;
  readonly context: ControlContext;
  readonly database: TestDatabase;
  /** Sends a request; `path` from `/v1` on. Redirects are not followed. */
  request(method: string, path: string, options?: RequestOptions): Promise<Answered>;
  close(): Promise<void>;
}

/** The API of one environment over HTTP, on a database of its own. */
export async function startControl(options: ControlOptions = {}): Promise<RunningControl> {
  const database = options.database ?? (await testDatabase());
  const clock = options.clock ?? Date.now;
  const writers = { ...(await productionWriters()), ...options.writers };
  const context: { settings: ControlSettings } & Omit<ControlContext, "settings"> = {
    settings: { ...TEST_SETTINGS, publicUrl: "http://127.0.0.1:0", ...options.settings },
    db: database.db,
    units: createUnits(database.db, writers, clock),
    box: createSecretBox(options.masterKey ?? randomBytes(32), options.previousKeys),
    clock,
    databaseNow: options.databaseNow ?? (() => Promise.resolve(new Date(clock()))),
    log: createLog({ level: "error", name: "control" }),
  };
  const { server } = await createApiServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  context.settings = { ...context.settings, publicUrl: options.settings?.publicUrl ?? url };
  const limiter = options.limiter?.(context) ?? unlimited;
  const shared = { keyring: createKeyring(context), compile: createPolicySetCompiler() };
  const { routes, feed } = await routesOf(context, shared, options);
  const authenticator = options.authenticator?.(context) ?? believing;
  server.on(
    "request",
    createApplication({
      context,
      authenticator,
      limiter,
      routes,
      publicUrl: url,
      sessionCookie: cookieName(context.settings),
      trustedProxies: context.settings.trustedProxies,
      exportLimits: options.exportLimits,
      beside: options.beside?.(context, { authenticator, limiter, ...shared }) ?? [],
    }),
  );
  return {
    url,
    context,
    database,
    request: (method, path, request = {}) => send(url, method, path, request),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await limiter.close();
      await feed?.close();
      if (options.database === undefined) await database.close();
    },
  };
}

async function routesOf(
  context: ControlContext,
  shared: SharedParts,
  { routes }: ControlOptions,
): Promise<{ readonly routes: readonly Route[]; readonly feed?: BackgroundWork }> {
  if (routes !== undefined) return { routes: routes(context, shared) };
  const { allRoutes } = await import("../../src/control/routes.ts");
  const { createGatewayFeed } = await import("../../src/control/gateway/feed.ts");
  const feed = createGatewayFeed(context);
  return { routes: allRoutes(context, { feed, ...shared }), feed };
}

/** Sends one request to the API at `url`. */
export async function send(
  url: string,
  method: string,
  path: string,
  { body, as = FULL_KEY, headers = {} }: RequestOptions,
): Promise<Answered> {
  const answer = await fetch(`${url}/v1${path}`, {
    method,
    redirect: "manual",
    headers: {
      accept: "application/json",
      ...(as !== null && {
        authorization: `Bearer ${Buffer.from(JSON.stringify(as)).toString("base64url")}`,
      }),
      ...(body !== undefined && { "content-type": "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  const json = answer.headers.get("content-type")?.startsWith("application/json") ?? false;
  return {
    status: answer.status,
    headers: answer.headers,
    text,
    body: json && text !== "" ? (JSON.parse(text) as unknown) : undefined,
  };
}

/** Takes the actor that the request names. */
export const believing: Authenticator = {
  identify(request) {
    const [, token] = /^Bearer (\S+)$/.exec(request.headers.authorization ?? "") ?? [];
    if (token === undefined) return Promise.resolve(undefined);
    try {
      return Promise.resolve(JSON.parse(Buffer.from(token, "base64url").toString()) as Actor);
    } catch {
      return Promise.resolve(new ApiError("UNAUTHORIZED"));
    }
  },
  identifyKey: async (secret) =>
    (await believing.identify({ headers: { authorization: `Bearer ${secret}` } } as Request)) ??
    new ApiError("UNAUTHORIZED"),
  lockCredentials: () => Promise.resolve(),
  requireSameSite: () => undefined,
};

const unlimited: RateLimiter = {
  take: () => Promise.resolve({ allowed: true, limit: 1_000, remaining: 999, resetAt: 0 }),
  close: () => Promise.resolve(),
};

/** Those that are there: the resources are written side by side. */
async function productionWriters(): Promise<UnitWriters> {
  const load = async <T>(path: string, name: string): Promise<T | undefined> => {
    try {
      return ((await import(path)) as Record<string, T>)[name];
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND")
        return undefined;
      throw error;
    }
  };
  const nothing = () => Promise.resolve();
  const [changes, events, deliveries, gateways] = await Promise.all([
    load<UnitWriters["changes"]>("../../src/control/analytics/audit/write-changes.ts", "writeChanges"),
    load<UnitWriters["events"]>("../../src/control/analytics/write-events.ts", "writeEvents"),
    load<UnitWriters["deliveries"]>("../../src/control/resources/webhooks/enqueue.ts", "enqueueDeliveries"),
    load<UnitWriters["gateways"]>("../../src/control/gateway/append.ts", "appendGatewayChanges"),
  ]);
  return {
    changes: changes ?? nothing,
    events: events ?? nothing,
    deliveries: deliveries ?? nothing,
    gateways: gateways ?? nothing,
  };
}
