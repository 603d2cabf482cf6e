import type { IntakeAnswer, RecordIntake } from "../audit/control-plane-destination.ts";
import type { GatewayErrorCode } from "../protocol/index.ts";
import type { ControlPlaneClient } from "./client.ts";
import { ControlPlaneError } from "./control-plane-error.ts";

/** What the API says to a batch that it does not take for what is in it. By whom else, and of which status, says nothing. */
const REFUSED: ReadonlySet<string> = new Set<GatewayErrorCode>([
  "MALFORMED_JSON",
  "VALIDATION_FAILED",
  "PAYLOAD_TOO_LARGE",
]);

/** The control plane as audit records reach it. */
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
