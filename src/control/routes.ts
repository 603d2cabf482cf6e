import { analyticsRoutes } from "./analytics/routes.ts";
import { apiKeyRoutes } from "./resources/api-keys/routes.ts";
import { auditRoutes } from "./analytics/audit/routes.ts";
import { clientRoutes } from "./resources/clients/routes.ts";
import type { WorkloadContexts } from "./platform/connection-budgets.ts";
import type { ControlContext } from "./platform/context.ts";
import { exportRoutes } from "./export/routes.ts";
import { customerRoutes } from "./resources/customers/routes.ts";
import { dashboardRoutes } from "./resources/dashboard-users/routes.ts";
import { erasureRoutes } from "./resources/erasure/routes.ts";
import type { Route } from "./platform/frame/route.ts";
import { fleetRoutes } from "./resources/gateways/routes.ts";
import { gatewayRoutes } from "./gateway/routes.ts";
import type { GatewayFeed } from "./gateway/feed.ts";
import type { Keyring } from "./sign-in/issuer/keyring.ts";
import { policyRoutes } from "./resources/policies/routes.ts";
import type { PolicySetCompiler } from "./resources/policy-sets/compiler.ts";
import { rolloutRoutes } from "./resources/policy-sets/rollout-routes.ts";
import { policySetRoutes } from "./resources/policy-sets/routes.ts";
import { recordsRoutes } from "./analytics/records/routes.ts";
import { createSandboxIdp } from "./sandbox/idp.ts";
import { sandboxRoutes } from "./sandbox/routes.ts";
import type { SandboxSeed } from "./sandbox/seed/types.ts";
import { sessionRoutes } from "./resources/sessions/routes.ts";
import { signInRoutes } from "./sign-in/routes.ts";
import { userRoutes } from "./resources/users/routes.ts";
import { webhookRoutes } from "./resources/webhooks/routes.ts";

/** What the routes of one environment share with each other and with the work beside requests. */
export interface RouteParts {
  readonly feed: GatewayFeed;
  readonly keyring: Keyring;
  readonly compile: PolicySetCompiler;
  /** The content of the sandbox after a reset. Default: very little. */
  readonly seed?: SandboxSeed;
  /** Work that does not use the API's connections. */
  readonly workloads?: WorkloadContexts;
}

/** Every route of the API, one resource per line. */
export function allRoutes(
  context: ControlContext,
  { feed, keyring, compile, seed = {}, workloads = {} }: RouteParts,
): readonly Route[] {
  const isSandbox = context.settings.environment === "sandbox";
  const { analytics = context, intake = context, feed: gateways = context } = workloads;
  return [
    ...signInRoutes(context, {
      keyring,
      // whatever is configured
      providerOf: isSandbox ? createSandboxIdp(context) : undefined,
    }),
    ...sessionRoutes(context),
    ...customerRoutes(context),
    ...userRoutes(context),
    ...exportRoutes(analytics),
    ...erasureRoutes(context),
    ...policyRoutes(context),
    ...policySetRoutes(context, compile),
    ...rolloutRoutes(context),
    ...analyticsRoutes(analytics),
    ...auditRoutes(analytics),
    ...webhookRoutes(context),
    ...apiKeyRoutes(context),
    ...clientRoutes(context),
    ...dashboardRoutes(context),
    ...gatewayRoutes(gateways, feed),
    ...fleetRoutes(context),
    ...recordsRoutes(intake),
    ...(isSandbox ? sandboxRoutes(context, { seed, keyring, compile }) : []),
  ];
}
