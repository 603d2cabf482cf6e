import * as z from "zod";
import type { DeepReadonly } from "../json/index.ts";
import { rolloutTerms } from "./rollout.ts";

/** The longest wait that a request may ask for, in seconds. */
export const MAX_WAIT_SECONDS = 30;

/** Parameters of `GET /gateway/state`. */
export const stateQuery = z.strictObject({
  after: z.string().max(200).optional().describe("`cursor` of the last response"),
  wait: z
    .string()
    .regex(/^(?:[12]?\d|30)$/, `must be a whole number of seconds from 0 to ${MAX_WAIT_SECONDS}`)
    .transform(Number)
    .prefault("0")
    .meta({ type: "integer", minimum: 0, maximum: MAX_WAIT_SECONDS }),
  pages: z.literal("true").optional().describe("a complete state may come in pages"),
});

const authentication = z.object({
  mfa_required: z.boolean(),
  mfa_acr_values: z
    .array(z.string())
    .exactOptional()
    .describe("values of `acr` that count as multi-factor authentication"),
  max_session_duration: z.number().exactOptional(),
  allowed_email_domains: z.array(z.array(z.string())),
  allowed_ip_ranges: z.array(z.array(z.string())),
});

const customer = z.object({
  id: z.string(),
  status: z.enum(["active", "suspended", "archived", "deleted"]),
  authentication,
  policy_sets: z.array(z.string()),
});

const state = z.object({
  cursor: z.string().min(1),
  complete: z.boolean().describe("replaces everything that was sent before"),
  more: z
    .boolean()
    .exactOptional()
    .describe("more follows `cursor`: ask again immediately; for a complete state only with `pages`"),
  customers: z.array(customer),
  customers_deleted: z.array(z.string()).exactOptional(),
  sessions_ended: z.array(
    z.object({
      session_id: z.string(),
      until: z.iso.datetime({ offset: true }).meta({ type: "string", format: "date-time" }),
    }),
  ),
  users: z.array(
    z.object({
      id: z.string(),
      customer_id: z.string(),
      status: z.enum(["active", "suspended", "deleted"]),
    }),
  ),
});

/** The active version of a set. */
const policySet = z.object({ name: z.string(), version: z.string(), digest: z.string() });

/** The response as written by the control plane, including members that only earlier releases leave out. */
export const stateData = state
  .extend({
    customers: z.array(
      customer.extend({
        authentication: authentication.extend({ max_session_duration: z.int().exactOptional() }),
      }),
    ),
    customers_deleted: z
      .array(z.string())
      .describe("only with a complete state: ids of all deleted customers"),
    policy_sets: z.array(policySet.extend({ rollout: rolloutTerms.exactOptional() })),
  })
  .meta({ id: "GatewayState" });
export type StateData = DeepReadonly<z.input<typeof stateData>>;

/** The response as read by a gateway, from this control plane or another release. */
export const stateAnswer = state.extend({
  // terms that only a later release knows are none: the active version decides for everybody
  policy_sets: z.array(policySet.extend({ rollout: rolloutTerms.optional().catch(undefined) })),
});
export type StateAnswer = DeepReadonly<z.output<typeof stateAnswer>>;
