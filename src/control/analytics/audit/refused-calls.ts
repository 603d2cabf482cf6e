import type { Knex } from "knex";
import { every } from "../../../runtime/every.ts";
import { RateBudget } from "../../../runtime/rate-budget.ts";
import type { BackgroundWork, ControlContext } from "../../platform/context.ts";
import type { ApiCall } from "../../platform/frame/calls.ts";
import { newId } from "../../platform/ids.ts";

/**
 * What becomes of the record of a refused call: `rate`: there were too many of its caller, so it is only counted in a record of
 * several; `failed`: the database did not take it.
 */
export type RefusedCallRecord = "recorded" | "rate" | "failed";

export interface RefusedCalls extends BackgroundWork {
  /** Takes a call that has ended; others than refused ones are ignored. */
  note(call: ApiCall): void;
}

/** Records of one caller per second, averaged over ten seconds: anybody can have calls refused. */
const PER_SECOND = {
  /** Of a key or a person that may call. Keys of one customer are one caller, as they are for connections (decision 0055). */
  known: 5,
  /** Of a key that is known and refused: revoked, expired, or used from elsewhere. Anyone who has found it hides nobody else's calls. */
  refused: 1,
  /** Of all of whom nothing is known. */
  unknown: 5,
} as const;
const WRITE_MS = 1_000;
/** How long calls beyond a budget are counted before they become one record. */
const COUNTED_MS = 10_000;
/** What waits for the database; more is counted. */
const MOST_WAITING = 1_000;
/** Callers that are told apart; more share one budget. */
const MOST_CALLERS = 1_000;

/** Calls of one caller without a record of their own. */
interface Beyond {
  readonly last: ApiCall;
  readonly calls: number;
}

interface Caller {
  readonly budget: RateBudget;
  /** Since the last record of such calls. */
  beyond: Beyond | undefined;
  /** Whether it has called since then. */
  isActive: boolean;
}

/**
 * Writes a record of each call that was refused because of who called, in batches: a flood of them costs one statement per
 * second. Each caller has a budget of records; what is beyond it is one record every ten seconds, with the number of calls.
 *
 * @param count - hears what became of how many
 */
export function createRefusedCalls(
  { db, log }: Pick<ControlContext, "db" | "log">,
  count: (record: RefusedCallRecord, calls: number) => void = () => undefined,
): RefusedCalls {
  const callers = new Map<string, Caller>();
  let waiting: ApiCall[] = [];
  let countedSince = performance.now();

  function callerOf(call: ApiCall): Caller {
    const { name, perSecond } = budgetOf(call);
    const known = callers.get(name);
    if (known !== undefined) return known;
    if (callers.size >= MOST_CALLERS && name !== OTHERS) return othersOf(callers);
    return addCaller(callers, name, perSecond);
  }

  /** What each caller has called beyond its budget; those that no longer call are forgotten. */
  function takeCounted(): Beyond[] {
    countedSince = performance.now();
    const counted = [...callers.values()].flatMap(({ beyond }) => (beyond === undefined ? [] : [beyond]));
    for (const [name, caller] of callers) {
      if (!caller.isActive) callers.delete(name);
      Object.assign(caller, { beyond: undefined, isActive: false });
    }
    return counted;
  }

  function addBeyond(last: ApiCall, calls: number): void {
    const caller = callerOf(last);
    caller.isActive = true;
    caller.beyond = { last: caller.beyond?.last ?? last, calls: (caller.beyond?.calls ?? 0) + calls };
  }

  async function write(isLast = false): Promise<void> {
    const calls = waiting;
    waiting = [];
    const isOver = isLast || performance.now() - countedSince >= COUNTED_MS;
    const counted = isOver ? takeCounted() : [];
    const rows = [
      ...calls.map((call) => rowOf(call)),
      ...counted.map((beyond) => rowOf(beyond.last, beyond.calls)),
    ];
    if (rows.length === 0) return;
    try {
      await db("audit_records").insert(rows);
    } catch (error) {
      count("failed", calls.length);
      // they are in the next record
      for (const { last, calls: number } of counted) addBeyond(last, number);
      throw error;
    }
    count("recorded", calls.length);
  }

  const writing = every(WRITE_MS, () => write(), { what: "record refused calls to the API", log });
  return {
    note(call) {
      if (!isRefused(call)) return;
      const caller = callerOf(call);
      caller.isActive = true;
      if (caller.budget.take() && waiting.length < MOST_WAITING) {
        waiting.push(call);
        return;
      }
      caller.beyond = { last: call, calls: (caller.beyond?.calls ?? 0) + 1 };
      count("rate", 1);
    },
    async close() {
      await writing.close();
      await write(true).catch((error: unknown) => {
        log.warn({ err: error }, "could not record refused calls to the API");
      });
    },
  };
}

const OTHERS = "others";

function othersOf(callers: Map<string, Caller>): Caller {
  return callers.get(OTHERS) ?? addCaller(callers, OTHERS, PER_SECOND.known);
}

function addCaller(callers: Map<string, Caller>, name: string, perSecond: number): Caller {
  const caller: Caller = { budget: new RateBudget({ perSecond }), beyond: undefined, isActive: true };
  callers.set(name, caller);
  return caller;
}

/** Whose budget a call is counted in. */
function budgetOf({ status, code, caller }: ApiCall): { readonly name: string; readonly perSecond: number } {
  const { id, customerId = id } = caller;
  if (customerId === undefined) return { name: "unknown", perSecond: PER_SECOND.unknown };
  const isKeyRefused = status === 401 || code === "ADDRESS_NOT_ALLOWED";
  const state = isKeyRefused ? "refused" : "known";
  return { name: `${state} ${customerId}`, perSecond: PER_SECOND[state] };
}

/** Refused because of who called: without a valid key or session, without the right, or for another customer. */
function isRefused({ status, code, caller }: ApiCall): boolean {
  if (status === 401 || status === 403) return true;
  return code === "INVALID_CUSTOMER" && caller.customerId !== undefined;
}

/** @param calls - number of calls that it stands for; `call` is the last of them */
function rowOf(call: ApiCall, calls = 1): Readonly<Record<string, Knex.Value>> {
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
    record: JSON.stringify({
      actor: { kind: caller.kind, id: caller.id ?? "" },
      method,
      status,
      ...(calls > 1 && { calls }),
    }),
  };
}
