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
import { policyRoutes } from "./policies/routes.ts";
import { createPolicySetCompiler } from "./policy-sets/compiler.ts";
import { policySetRoutes } from "./policy-sets/routes.ts";
import { recordsRoutes } from "./records/routes.ts";
import { sandboxRoutes } from "./sandbox/routes.ts";
import type { SandboxSeed } from "./sandbox/seed/types.ts";
import { sessionRoutes } from "./sessions/routes.ts";
import { signInRoutes } from "./sign-in/routes.ts";
import { userRoutes } from "./users/routes.ts";
import { webhookRoutes } from "./webhooks/routes.ts";

/**
 * Every route of the API, one resource a line.
 *
 * @param seed - what a reset of the sandbox fills it with
 * @param workloads - what does not take the API's connections
 */
export function allRoutes(
  context: ControlContext,
  feed: GatewayFeed,
  seed: SandboxSeed = {},
  { analytics = context, intake = context, feed: gateways = context }: WorkloadContexts = {},
): readonly Route[] {
  return [
    ...signInRoutes(context),
    ...sessionRoutes(context),
    ...customerRoutes(context),
    ...userRoutes(context, analytics),
    ...erasureRoutes(context),
    ...policyRoutes(context),
    ...policySetRoutes(context, createPolicySetCompiler()),
    ...analyticsRoutes(analytics),
    ...auditRoutes(analytics),
    ...webhookRoutes(context),
    ...apiKeyRoutes(context),
    ...clientRoutes(context),
    ...dashboardRoutes(context),
    ...gatewayRoutes(gateways, feed),
    ...recordsRoutes(intake),
    ...(context.settings.environment === "sandbox" ? sandboxRoutes(context, seed) : []),
  ];
}
