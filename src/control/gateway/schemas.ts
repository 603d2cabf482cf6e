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
    max_session_duration: z.int().optional(),
    allowed_email_domains: z.array(z.array(z.string())),
    allowed_ip_ranges: z.array(z.array(z.string())),
  }),
  policy_sets: z.array(z.string()),
});

export const stateData = z.object({
  cursor: z.string(),
  complete: z.boolean().describe("takes the place of all that was told before"),
  customers: z.array(customerStanding),
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
