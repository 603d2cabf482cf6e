import { createApiKeyVerifier, type KeyOfCaller } from "../../identity/index.ts";
import type { TokenVerifier } from "../../identity/index.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { errorMessage } from "../../text/index.ts";
import type { ControlPlaneLink } from "./control-plane-link.ts";

/** Look-ups at the same time; more fail at once instead of queueing. */
const MAX_CALLS = 50;

/** The verifier of callers' API keys, which asks the control plane. */
export function callersOf(
  { client }: Pick<ControlPlaneLink, "client">,
  { metrics, log }: { readonly metrics: Metrics; readonly log: Log },
): TokenVerifier {
  let calls = 0;
  let failing = false;
  const lookup = async (hash: string): Promise<KeyOfCaller | undefined> => {
    if (calls >= MAX_CALLS) {
      metrics.userLookupFailures.inc({ cause: "overload" });
      throw new Error("too many concurrent look-ups of API keys");
    }
    calls += 1;
    try {
      const caller = await client.caller(hash);
      failing = false;
      return caller;
    } catch (error) {
      metrics.userLookupFailures.inc({ cause: "failed" });
      if (!failing) log.warn({ problem: errorMessage(error) }, "cannot look up callers' API keys");
      failing = true;
      throw error;
    } finally {
      calls -= 1;
    }
  };
  return createApiKeyVerifier({ lookup });
}
