import type { IntakeAnswer, RecordIntake } from "../audit/control-plane-destination.ts";
import type { GatewayErrorCode } from "../protocol/index.ts";
import type { ControlPlaneClient } from "./client.ts";
import { ControlPlaneError } from "./control-plane-error.ts";

/** The API's codes for a batch that it rejects because of its content. The status alone says nothing: a proxy may have sent it. */
const REFUSED: ReadonlySet<string> = new Set<GatewayErrorCode>([
  "MALFORMED_JSON",
  "VALIDATION_FAILED",
  "PAYLOAD_TOO_LARGE",
]);

/** The control plane as a receiver of audit records. */
export function recordIntake(client: Pick<ControlPlaneClient, "records">): RecordIntake {
  return {
    async send(lines, { timeoutMs, signal }): Promise<IntakeAnswer> {
      try {
        const { rejected } = await client.records(lines, timeoutMs, signal);
        return { kind: "taken", rejected };
      } catch (error) {
        if (!(error instanceof ControlPlaneError))
          return {
            kind: "away",
            code: "UNKNOWN",
            message: error instanceof Error ? error.message : "failed",
          };
        const { code, message, retryAfterMs } = error;
        if (REFUSED.has(code)) return { kind: "refused", code, message };
        return { kind: "away", code, message, ...(retryAfterMs !== undefined && { retryAfterMs }) };
      }
    },
  };
}
