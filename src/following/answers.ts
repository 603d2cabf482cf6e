import * as z from "zod";
import type { DeepReadonly } from "../json/index.ts";

/** What the gateway's routes answer. Members that are not named here are newer than this gateway, and left out. */

const customerStanding = z.object({
  id: z.string(),
  status: z.enum(["active", "suspended", "archived", "deleted"]),
  authentication: z.object({
    mfa_required: z.boolean(),
    mfa_acr_values: z.array(z.string()).exactOptional(),
    max_session_duration: z.number().exactOptional(),
    allowed_email_domains: z.array(z.array(z.string())),
    allowed_ip_ranges: z.array(z.array(z.string())),
  }),
  policy_sets: z.array(z.string()),
});

const state = z.object({
  cursor: z.string().min(1),
  /** The whole state, as far as it differs from the ordinary; otherwise what has changed. */
  complete: z.boolean(),
  /** One page of what has changed: the next one is there behind the cursor. */
  more: z.boolean().exactOptional(),
  customers: z.array(customerStanding),
  /** Ids of all that were ever deleted. A control plane of an earlier release does not say it. */
  customers_deleted: z.array(z.string()).exactOptional(),
  sessions_ended: z.array(z.object({ session_id: z.string(), until: z.iso.datetime({ offset: true }) })),
  users: z.array(
    z.object({
      id: z.string(),
      customer_id: z.string(),
      status: z.enum(["active", "suspended", "deleted"]),
    }),
  ),
  policy_sets: z.array(z.object({ name: z.string(), version: z.string(), digest: z.string() })),
});
/** Half of a complete state would say of everybody in the other half that they are ordinary. */
export const stateAnswer = state.refine(({ complete, more }) => !complete || more !== true, {
  path: ["more"],
});
export type StateAnswer = DeepReadonly<z.output<typeof stateAnswer>>;

export const policySetAnswer = z.object({
  name: z.string(),
  version: z.string(),
  digest: z.string(),
  files: z.array(z.object({ name: z.string(), text: z.string() })),
});
export type PolicySetAnswer = DeepReadonly<z.output<typeof policySetAnswer>>;

export const recordsAnswer = z.object({
  accepted: z.int().nonnegative(),
  duplicates: z.int().nonnegative(),
  rejected: z.array(
    z.object({ index: z.int().nonnegative(), code: z.string().exactOptional(), message: z.string() }),
  ),
});
export type RecordsAnswer = DeepReadonly<z.output<typeof recordsAnswer>>;

/** What happened between two moments. */
export interface StatisticsReport {
  readonly instance: string;
  /** From 1 on; a report that is sent again has the same. */
  readonly sequence: number;
  readonly from: string;
  readonly to: string;
  readonly caches: readonly {
    readonly name: string;
    readonly hits: number;
    readonly misses: number;
    readonly evictions: number;
  }[];
  readonly audit: { readonly decided: number; readonly recorded: number; readonly dropped: number };
}
