import * as z from "zod";
import type { DeepReadonly } from "../json/index.ts";

/** Parameters of `GET /gateway/policy-sets/{name}`. */
export const policySetParams = z.strictObject({ name: z.string().min(1).max(128) });

/** Its response: the active version. */
export const policySetData = z.object({
  name: z.string(),
  version: z.string(),
  digest: z.string(),
  files: z.array(z.object({ name: z.string(), text: z.string() })),
});
export type PolicySetData = DeepReadonly<z.output<typeof policySetData>>;
