import type { Express } from "express";
import { createSchemaCheck, type Database } from "../storage/index.ts";
import { createAuthenticator } from "./authenticator.ts";
import { dashboardRouter } from "./dashboard/router.ts";
import type { WorkloadContexts } from "./platform/connection-budgets.ts";
import type { BackgroundWork, ControlContext } from "./platform/context.ts";
import { cookieName } from "./resources/dashboard-users/session-cookie.ts";
import { ensureSetupLink, type SetupLink } from "./resources/dashboard-users/links.ts";
import { encryptionKeyProblem } from "./encryption/key-check.ts";
import { setupRouter } from "./resources/dashboard-users/setup-page.ts";
import type { ObserveCall } from "./platform/frame/calls.ts";
import { createRefusedCalls, type RefusedCallRecord } from "./analytics/audit/refused-calls.ts";
import { createApplication } from "./platform/frame/server.ts";
import { createGatewayFeed, type GatewayFeedOptions } from "./gateway/feed.ts";
import { healthRouter } from "./health.ts";
import { createKeyring } from "./sign-in/issuer/keyring.ts";
import { wellKnownRouter } from "./sign-in/oauth/well-known.ts";
import { every } from "../runtime/every.ts";
import { watchFleet, type FleetCounts } from "./resources/gateways/watch.ts";
import { startMaintenance } from "./maintenance.ts";
import { oauthRouter } from "./sign-in/oauth/router.ts";
import { createPolicySetCompiler } from "./resources/policy-sets/compiler.ts";
import {
  startFolderPublisher,
  type FolderPublisherOptions,
} from "./resources/policy-sets/folder-publisher.ts";
import { watchRollouts } from "./resources/policy-sets/rollout-watch.ts";
import { createRateLimiter } from "./platform/rate-limits/limiter.ts";
import { allRoutes } from "./routes.ts";
import { providerRouter } from "./sandbox/provider/router.ts";
import { seedSandbox } from "./sandbox/reset.ts";
import type { SandboxSeed } from "./sandbox/seed/types.ts";
import { startDeliveries } from "./resources/webhooks/start-deliveries.ts";

export interface EnvironmentOptions {
  /** A folder whose policy set is published whenever it changes. */
  readonly publish?: Pick<FolderPublisherOptions, "directory" | "policySet" | "onAttempt">;
  /** The content of a sandbox at its first start and after a reset. Default: very little. */
  readonly seed?: SandboxSeed;
  /** How webhooks are delivered. Default: in this thread, beside requests. */
  readonly deliver?: (context: ControlContext) => BackgroundWork;
  /** Work that does not use the API's connections. */
  readonly workloads?: WorkloadContexts;
  /** Hears of every request to the API. */
  readonly observe?: ObserveCall;
  /** Hears what became of the records of refused calls. */
  readonly onRefusedCall?: (record: RefusedCallRecord, calls: number) => void;
  /** Called for each read of the change feed that gets no turn. */
  readonly onRefusedFeedTurn?: GatewayFeedOptions["onRefusedTurn"];
  /** Called with the number of gateways by status, every few seconds. */
  readonly onFleet?: (counts: FleetCounts) => void;
  /** A connection for `/readyz` alone, which tells of the database and not of those who wait for it. Default: the API's. */
  readonly readiness?: Database;
}

/** One environment, ready to serve requests. */
export interface ComposedEnvironment {
  readonly application: Express;
  /** The link for creating the first owner, until there is one. */
  readonly setupLink?: SetupLink;
  /** Answers waiting requests, and stops background work. */
  close(): Promise<void>;
}

/** How soon a lost gateway is announced. */
const FLEET_MS = 5_000;
/** How soon a candidate is taken back that does worse. */
const ROLLOUTS_MS = 1_000;

/** Assembles one environment: creates what its parts share, its routes, and its background work. */
export async function composeEnvironment(
  context: ControlContext,
  options: EnvironmentOptions = {},
): Promise<ComposedEnvironment> {
  const { settings, db, box, log } = context;
  const {
    publish,
    seed = {},
    workloads = {},
    readiness = db,
    deliver = startDeliveries,
    onFleet,
    onRefusedCall,
    onRefusedFeedTurn,
  } = options;
  const isSandbox = settings.environment === "sandbox";
  const keyring = createKeyring(context);
  const compile = createPolicySetCompiler();
  if (isSandbox) await seedSandbox(context, { seed, keyring, compile });
  const feed = createGatewayFeed(
    workloads.feed ?? context,
    onRefusedFeedTurn === undefined ? {} : { onRefusedTurn: onRefusedFeedTurn },
  );
  const limiter = createRateLimiter(settings, db, log);
  const setupLink = await ensureSetupLink(context);
  const authenticator = createAuthenticator(context, workloads.keys?.db);
  const refused = createRefusedCalls(context, onRefusedCall);
  const application = createApplication({
    context,
    authenticator,
    limiter,
    routes: allRoutes(context, { feed, keyring, compile, seed, workloads }),
    publicUrl: settings.publicUrl,
    sessionCookie: cookieName(settings),
    trustedProxies: settings.trustedProxies,
    observe: (begun) => {
      const end = options.observe?.(begun);
      return (call) => {
        refused.note(call);
        end?.(call);
      };
    },
    beside: [
      healthRouter(
        { db: readiness, log },
        {
          encryption_key: () => encryptionKeyProblem(readiness, box),
          schema: createSchemaCheck(readiness),
        },
      ),
      wellKnownRouter(context, { keyring }),
      oauthRouter(context, { authenticator, limiter, keyring }),
      setupRouter(),
      dashboardRouter(context),
      ...(isSandbox ? [providerRouter(context)] : []),
    ],
  });
  const work: BackgroundWork[] = [
    feed,
    limiter,
    refused,
    deliver(context),
    startMaintenance(context, keyring),
    every(
      FLEET_MS,
      async () => {
        const counts = await watchFleet(context);
        onFleet?.(counts);
      },
      { what: "watch the gateways", log, now: true },
    ),
    every(ROLLOUTS_MS, () => watchRollouts(context), { what: "watch rollouts", log, level: "error" }),
    ...(publish ? [startFolderPublisher({ context, compile }, publish)] : []),
  ];
  return {
    application,
    ...(setupLink !== undefined && { setupLink }),
    async close() {
      await Promise.all(work.map((part) => part.close()));
    },
  };
}
