import * as z from "zod";

/** The envelope of a response's data, as far as gateways read it (specification 2.1). */
export const successEnvelope = z.object({ success: z.literal(true), data: z.unknown() });

/** The envelope of an error (specification 7). */
export const errorEnvelope = z.object({
  success: z.literal(false),
  error: z.object({ code: z.string().max(100), message: z.string().max(10_000) }),
});

export type SuccessEnvelope = z.input<typeof successEnvelope>;
export type ErrorEnvelope = z.input<typeof errorEnvelope>;

/** Error codes that gateways distinguish. The control plane's table must include these; it has more. */
export type GatewayErrorCode =
  | "POLICY_SET_NOT_FOUND"
  | "USER_NOT_FOUND"
  | "API_KEY_NOT_FOUND"
  // the content of the request is refused
  | "MALFORMED_JSON"
  | "VALIDATION_FAILED"
  | "PAYLOAD_TOO_LARGE";
