import * as z from "zod";
import type { DeepReadonly } from "../json/index.ts";
import { auditSettings } from "../audit/settings.ts";
import { attributeSources, authz, policies, telemetry } from "./schema-service.ts";
import { api, controlPlane, database, retention, signIn, webhooks } from "./schema-control.ts";
import { rollout } from "./schema-rollout.ts";
import { gateway } from "./schema-gateway.ts";
import { identity } from "./schema-identity.ts";

/** `gateway.yaml`: every key with its type, default and purpose. Everything else is generated from this. */
export const gatewaySchema = z.strictObject({
  gateway,
  identity,
  policies,
  rollout,
  attribute_sources: attributeSources,
  audit: auditSettings,
  authz,
  telemetry,
  control_plane: controlPlane,
  api,
  database,
  sign_in: signIn,
  webhooks,
  retention,
});

/**
 * The configuration in force: the file's keys under the file's names, defaults filled in, durations in milliseconds,
 * sizes in bytes, paths absolute. Frozen.
 */
export type GatewayConfig = DeepReadonly<z.output<typeof gatewaySchema>>;
