import type { Knex } from "knex";
import { every } from "../../../runtime/every.ts";
import { RateBudget } from "../../../runtime/rate-budget.ts";
import type { BackgroundWork, ControlContext } from "../../platform/context.ts";
import type { ApiCall } from "../../platform/frame/calls.ts";
import { newId } from "../../platform/ids.ts";

/** What becomes of the record of a refused call: `rate`: there were too many; `failed`: the database did not take it. */
export type RefusedCallRecord = "recorded" | "rate" | "failed";

export interface RefusedCalls extends BackgroundWork {
  /** Takes a call that has ended; others than refused ones are ignored. */
  note(call: ApiCall): void;
}

/** Records of one instance per second, averaged over ten seconds: anybody can have calls refused. */
const PER_SECOND = 10;
/** Of those, calls of nobody that is known: they leave room for keys and people. */
const UNKNOWN_PER_SECOND = 5;
const WRITE_MS = 1_000;
/** What waits for the database; more is dropped. */
const MOST_WAITING = 1_000;

/**
 * Writes a record of each call that was refused because of who called, in batches: a flood of them costs one statement per
 * second.
 *
 * @param count - hears what became of how many
 */
export function createRefusedCalls(
  { db, log }: Pick<ControlContext, "db" | "log">,
  count: (record: RefusedCallRecord, calls: number) => void = () => undefined,
): RefusedCalls {
  const budget = new RateBudget({ perSecond: PER_SECOND });
  const ofUnknown = new RateBudget({ perSecond: UNKNOWN_PER_SECOND });
  let waiting: ApiCall[] = [];

  async function write(): Promise<void> {
    const calls = waiting;
    if (calls.length === 0) return;
    waiting = [];
    try {
      await db("audit_records").insert(calls.map(rowOf));
    } catch (error) {
      count("failed", calls.length);
      throw error;
    }
    count("recorded", calls.length);
  }

  const writing = every(WRITE_MS, write, { what: "record refused calls to the API", log });
  return {
    note(call) {
      if (!isRefused(call)) return;
      const isPermitted = (call.caller.id !== undefined || ofUnknown.take()) && budget.take();
      if (isPermitted && waiting.length < MOST_WAITING) waiting.push(call);
      else count("rate", 1);
    },
    async close() {
      await writing.close();
      await write().catch((error: unknown) => {
        log.warn({ err: error }, "could not record refused calls to the API");
      });
    },
  };
}

/** Refused because of who called: without a valid key or session, without the right, or for another customer. */
function isRefused({ status, code, caller }: ApiCall): boolean {
  if (status === 401 || status === 403) return true;
  return code === "INVALID_CUSTOMER" && caller.customerId !== undefined;
}

function rowOf(call: ApiCall): Readonly<Record<string, Knex.Value>> {
  const { startedAt, requestId, caller, operation, path, method, status, code, clientIp } = call;
  return {
    timestamp: new Date(startedAt),
    kind: "refused_call",
    id: newId("change"),
    request_id: requestId,
    customer_id: caller.customerId ?? null,
    user_id: caller.id ?? "",
    resource: path ?? "",
    action: operation,
    reason: code ?? "",
    client_ip: clientIp,
    record: JSON.stringify({ actor: { kind: caller.kind, id: caller.id ?? "" }, method, status }),
  };
}
