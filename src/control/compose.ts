import type { Express } from "express";
import { createAuthenticator } from "./authentication.ts";
import type { BackgroundWork, ControlContext } from "./context.ts";
import { ensureSetupLink, type SetupLink } from "./dashboard-users/links.ts";
import { startDashboardPruning } from "./dashboard-users/prune-sign-ins.ts";
import { setupRouter } from "./dashboard-users/setup-page.ts";
import { createApplication } from "./frame/server.ts";
import { startIdempotencyPruning } from "./frame/prune-idempotency.ts";
import { createGatewayFeed } from "./gateway/feed.ts";
import { startGatewayPruning } from "./gateway/prune.ts";
import { healthRouter } from "./health.ts";
import { wellKnownRouter } from "./issuer/well-known.ts";
import { createPolicySetCompiler } from "./policy-sets/compiler.ts";
import { startFolderPublisher, type FolderPublisherOptions } from "./policy-sets/folder-publisher.ts";
import { createRateLimiter } from "./rate-limits/limiter.ts";
import { startPartitions } from "./records/start-partitions.ts";
import { allRoutes } from "./routes.ts";
import { providerRouter, startProviderPruning } from "./sandbox/provider/router.ts";
import { seedSandbox } from "./sandbox/reset.ts";
import type { SandboxSeed } from "./sandbox/seed/types.ts";
import { startSignInUpkeep } from "./sign-in/upkeep.ts";
import { startDeliveries } from "./webhooks/start-deliveries.ts";

export interface EnvironmentOptions {
  /** A folder whose policy set is published whenever it changes. */
  readonly publish?: Pick<FolderPublisherOptions, "directory" | "policySet" | "onAttempt">;
  /** What the sandbox is filled with, at its first start and when it is reset. Default: little. */
  readonly seed?: SandboxSeed;
}

/** One environment, ready to serve. */
export interface ComposedEnvironment {
  readonly application: Express;
  /** Where the first owner is made, as long as there is none. */
  readonly setupLink?: SetupLink;
  /** Answers who waits, and ends what goes on beside requests. */
  close(): Promise<void>;
}

/** Puts one environment together: its routes, and the work that goes on beside requests. */
export async function composeEnvironment(
  context: ControlContext,
  { publish, seed = {} }: EnvironmentOptions = {},
): Promise<ComposedEnvironment> {
  const { settings, db, log } = context;
  const isSandbox = settings.environment === "sandbox";
  if (isSandbox) await seedSandbox(context, seed);
  const feed = createGatewayFeed(context);
  const limiter = createRateLimiter(settings, db, log);
  const setupLink = await ensureSetupLink(context);
  const application = createApplication({
    context,
    authenticator: createAuthenticator(context),
    limiter,
    routes: allRoutes(context, feed, seed),
    publicUrl: settings.publicUrl,
    trustedProxies: settings.trustedProxies,
    beside: [
      healthRouter(context),
      wellKnownRouter(context),
      setupRouter(),
      ...(isSandbox ? [providerRouter(context)] : []),
    ],
  });
  const work: BackgroundWork[] = [
    feed,
    limiter,
    startDeliveries(context),
    startPartitions(context),
    startGatewayPruning(context),
    startSignInUpkeep(context),
    startDashboardPruning(context),
    startIdempotencyPruning(context),
    ...(isSandbox ? [startProviderPruning(context)] : []),
    ...(publish ? [startFolderPublisher({ context, compile: createPolicySetCompiler() }, publish)] : []),
  ];
  return {
    application,
    ...(setupLink !== undefined && { setupLink }),
    async close() {
      await Promise.all(work.map((part) => part.close()));
    },
  };
}
