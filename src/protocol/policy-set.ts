import * as z from "zod";
import type { DeepReadonly } from "../json/index.ts";

/** Parameters of `GET /gateway/policy-sets/{name}`. */
export const policySetParams = z.strictObject({ name: z.string().min(1).max(128) });

/** Parameters of `GET /gateway/policy-sets/{name}/versions/{version}`. */
export const policySetVersionParams = z.strictObject({
  name: z.string().min(1).max(128),
  version: z.string().min(1).max(200),
});

/** The response to both: the active version, or the one that was asked for. */
export const policySetData = z
  .object({
    name: z.string(),
    version: z.string(),
    digest: z.string(),
    files: z.array(z.object({ name: z.string(), text: z.string() })),
  })
  .meta({ id: "GatewayPolicySet" });
export type PolicySetData = DeepReadonly<z.output<typeof policySetData>>;
