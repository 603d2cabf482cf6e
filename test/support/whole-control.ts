import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { composeEnvironment } from "../../src/control/compose.ts";
import type { ControlContext, ControlSettings } from "../../src/control/platform/context.ts";
import { openApiDocument } from "../../src/control/platform/frame/openapi.ts";
import { serveOn } from "../../src/control/platform/frame/serve-on.ts";
import type { Route } from "../../src/control/platform/frame/route.ts";
import { createGatewayFeed } from "../../src/control/gateway/feed.ts";
import { createKeyring } from "../../src/control/sign-in/issuer/keyring.ts";
import { createPolicySetCompiler } from "../../src/control/resources/policy-sets/compiler.ts";
import { allRoutes } from "../../src/control/routes.ts";
import { createSecretBox } from "../../src/control/platform/secret-box.ts";
import { createUnits } from "../../src/control/platform/unit.ts";
import { unitWriters } from "../../src/control/unit-writers.ts";
import { closeDatabase, openDatabase } from "../../src/storage/index.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { send, TEST_SETTINGS, type RunningControl } from "./control.ts";
import { testDatabase } from "./database.ts";
import { noteHeaders, type HeadersDocument } from "./declared-headers.ts";
import { bearer, makeKey, makeOwner, type Person } from "./guarded-control.ts";
import type { NewApiKey } from "../../src/control/resources/api-keys/store.ts";

/** No test that is not about limits comes near these. */
export const NO_LIMITS: ControlSettings["rateLimits"] = {
  authentication: 1_000_000_000,
  management: 1_000_000_000,
  analytics: 1_000_000_000,
};

/** One environment as it is in production: the real authenticator, limiter and background work. */
export interface WholeControl extends RunningControl {
  /** Every route that it serves. */
  readonly routes: readonly Route[];
  /** The port of {@link RunningControl.url}. */
  readonly port: number;
  /** Makes a key as the command line does. @returns the header that presents it */
  keyOf(fields?: Partial<NewApiKey>): Promise<Readonly<Record<string, string>>>;
  /** Makes the first owner through the setup link, and signs in. */
  owner(): Promise<Person>;
  /** @throws AssertionError if an answer until now had a header that the OpenAPI document does not declare, or lacked one that it requires */
  requireDeclaredHeaders(): void;
  /** With {@link requireDeclaredHeaders} at the end. */
  close(): Promise<void>;
}

export interface WholeOptions {
  readonly settings?: Partial<ControlSettings>;
  /** Unix ms. */
  readonly clock?: () => number;
}

/**
 * The connection for key look-ups. A unit of work needs one while it holds its own: with one pool for both, units that
 * wait for each other use all of it.
 */
export function openKeys(context: ControlContext, url: string): ControlContext {
  return { ...context, db: openDatabase(url, { poolSize: 1, applicationName: "test keys" }) };
}

/** Starts one environment on a database of its own; without limits unless `settings` has some. */
export async function startWholeControl(options: WholeOptions = {}): Promise<WholeControl> {
  const database = await testDatabase();
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const clock = options.clock ?? Date.now;
  const settings = { ...TEST_SETTINGS, rateLimits: NO_LIMITS, publicUrl: url, ...options.settings };
  const context: ControlContext = {
    settings,
    db: database.db,
    units: createUnits(database.db, unitWriters, clock),
    box: createSecretBox(randomBytes(32)),
    clock,
    databaseNow: () => Promise.resolve(new Date(clock())),
    log: createLog({ level: "error", name: "control" }),
  };
  const keys = openKeys(context, database.url);
  const composed = await composeEnvironment(context, { workloads: { keys } });
  const compareHeaders = noteHeaders(server);
  serveOn(server, composed.application, clock);
  // the same table once more, to look at; nobody waits on this feed
  const feed = createGatewayFeed(context);
  const parts = { feed, keyring: createKeyring(context), compile: createPolicySetCompiler() };
  const routes = allRoutes(context, parts);
  const whole: WholeControl = {
    url,
    port,
    context,
    database,
    routes,
    request: (method, path, request = {}) => send(url, method, path, { as: null, ...request }),
    keyOf: async (fields = {}) => bearer((await makeKey(whole, fields)).secret),
    owner: () => makeOwner(whole),
    requireDeclaredHeaders() {
      const document = openApiDocument(routes, { publicUrl: url, sessionCookie: "session" });
      compareHeaders(document as unknown as HeadersDocument);
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await composed.close();
      await feed.close();
      await closeDatabase(keys.db);
      await database.close();
      whole.requireDeclaredHeaders();
    },
  };
  return whole;
}
