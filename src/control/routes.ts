import { analyticsRoutes } from "./analytics/routes.ts";
import { apiKeyRoutes } from "./api-keys/routes.ts";
import { auditRoutes } from "./audit/routes.ts";
import { clientRoutes } from "./clients/routes.ts";
import type { WorkloadContexts } from "./connection-budgets.ts";
import type { ControlContext } from "./context.ts";
import { customerRoutes } from "./customers/routes.ts";
import { dashboardRoutes } from "./dashboard-users/routes.ts";
import { erasureRoutes } from "./erasure/routes.ts";
import type { Route } from "./frame/route.ts";
import { gatewayRoutes } from "./gateway/routes.ts";
import type { GatewayFeed } from "./gateway/feed.ts";
import type { Keyring } from "./issuer/keyring.ts";
import { policyRoutes } from "./policies/routes.ts";
import type { PolicySetCompiler } from "./policy-sets/compiler.ts";
import { policySetRoutes } from "./policy-sets/routes.ts";
import { recordsRoutes } from "./records/routes.ts";
import { sandboxRoutes } from "./sandbox/routes.ts";
import type { SandboxSeed } from "./sandbox/seed/types.ts";
import { sessionRoutes } from "./sessions/routes.ts";
import { signInRoutes } from "./sign-in/routes.ts";
import { userRoutes } from "./users/routes.ts";
import { webhookRoutes } from "./webhooks/routes.ts";

/** What routes of one environment share with each other and with the work beside requests. */
export interface RouteParts {
  readonly feed: GatewayFeed;
  readonly keyring: Keyring;
  readonly compile: PolicySetCompiler;
  /** What a reset of the sandbox fills it with. Default: little. */
  readonly seed?: SandboxSeed;
  /** What does not take the API's connections. */
  readonly workloads?: WorkloadContexts;
}

/** Every route of the API, one resource a line. */
export function allRoutes(
  context: ControlContext,
  { feed, keyring, compile, seed = {}, workloads = {} }: RouteParts,
): readonly Route[] {
  const { analytics = context, intake = context, feed: gateways = context } = workloads;
  return [
    ...signInRoutes(context, { keyring }),
    ...sessionRoutes(context),
    ...customerRoutes(context),
    ...userRoutes(context, analytics),
    ...erasureRoutes(context),
    ...policyRoutes(context),
    ...policySetRoutes(context, compile),
    ...analyticsRoutes(analytics),
    ...auditRoutes(analytics),
    ...webhookRoutes(context),
    ...apiKeyRoutes(context),
    ...clientRoutes(context),
    ...dashboardRoutes(context),
    ...gatewayRoutes(gateways, feed),
    ...recordsRoutes(intake),
    ...(context.settings.environment === "sandbox" ? sandboxRoutes(context, { seed, keyring, compile }) : []),
  ];
}
