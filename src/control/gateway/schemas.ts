import * as z from "zod";
import { timestamp } from "../frame/schemas.ts";

const MAX_WAIT_SECONDS = 30;

export const stateQuery = z.strictObject({
  after: z.string().max(200).optional().describe("`cursor` of the last answer"),
  wait: z
    .string()
    .regex(/^(?:[12]?\d|30)$/, `must be a whole number of seconds from 0 to ${MAX_WAIT_SECONDS}`)
    .transform(Number)
    .prefault("0")
    .meta({ type: "integer", minimum: 0, maximum: MAX_WAIT_SECONDS }),
});

const customerStanding = z.object({
  id: z.string(),
  status: z.enum(["active", "suspended", "archived", "deleted"]),
  authentication: z.object({
    mfa_required: z.boolean(),
    mfa_acr_values: z.array(z.string()).optional().describe("values of `acr` that count as multi-factor"),
    max_session_duration: z.int().optional(),
    allowed_email_domains: z.array(z.array(z.string())),
    allowed_ip_ranges: z.array(z.array(z.string())),
  }),
  policy_sets: z.array(z.string()),
});

export const stateData = z.object({
  cursor: z.string(),
  complete: z.boolean().describe("takes the place of all that was told before"),
  more: z
    .boolean()
    .optional()
    .describe("what follows `cursor` is there already: ask on at once; never of a complete state"),
  customers: z.array(customerStanding),
  customers_deleted: z
    .array(z.string())
    .describe("with the complete state: ids of all customers that were ever deleted"),
  sessions_ended: z.array(z.object({ session_id: z.string(), until: timestamp() })),
  users: z.array(
    z.object({
      id: z.string(),
      customer_id: z.string(),
      status: z.enum(["active", "suspended", "deleted"]),
    }),
  ),
  policy_sets: z.array(z.object({ name: z.string(), version: z.string(), digest: z.string() })),
});

export const policySetParams = z.strictObject({ name: z.string().min(1).max(128) });
export const userParams = z.strictObject({ key: z.string().min(1).max(128) });

export const policySetData = z.object({
  name: z.string(),
  version: z.string(),
  digest: z.string(),
  files: z.array(z.object({ name: z.string(), text: z.string() })),
});

/** Beside these, the user's effective attributes. */
export const userAttributesData = z
  .object({ id: z.string(), customer_id: z.string(), status: z.enum(["active", "suspended"]) })
  .catchall(z.unknown());
