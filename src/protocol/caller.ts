import * as z from "zod";

/** Parameters of `GET /gateway/callers/{hash}`: the SHA-256 of a key's text, in hexadecimal digits. */
export const callerParams = z.strictObject({
  hash: z.string().regex(/^[0-9a-f]{64}$/, "must be a SHA-256 in hexadecimal digits"),
});

/** Its response: an active key of the scope `caller`. */
export const callerData = z
  .object({
    hash: z.string(),
    id: z.string().min(1),
    name: z.string(),
    customer_id: z.string().min(1),
    permissions: z.array(z.string()),
    expires_at: z.iso.datetime({ offset: true }).nullable().meta({ type: "string", format: "date-time" }),
  })
  .meta({ id: "GatewayCaller" });
export type CallerData = z.output<typeof callerData>;
