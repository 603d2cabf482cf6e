import * as z from "zod";

/** Around the data of an answer, as far as gateways read it (specification 2.1). */
export const successEnvelope = z.object({ success: z.literal(true), data: z.unknown() });

/** Around an error (specification 7). */
export const errorEnvelope = z.object({
  success: z.literal(false),
  error: z.object({ code: z.string().max(100), message: z.string().max(10_000) }),
});

export type SuccessEnvelope = z.input<typeof successEnvelope>;
export type ErrorEnvelope = z.input<typeof errorEnvelope>;

/** Codes of errors that gateways tell apart. The control plane's own table has more; it must have these. */
export type GatewayErrorCode =
  | "POLICY_SET_NOT_FOUND"
  | "USER_NOT_FOUND"
  // what was sent is refused for what is in it
  | "MALFORMED_JSON"
  | "VALIDATION_FAILED"
  | "PAYLOAD_TOO_LARGE";
