import { RecentIds } from "../decision/connections/recent-ids.ts";

/**
 * Messages between workers, relayed by the supervisor: Envoy reports that a request ended without a decision to any one of
 * them, and another one may have decided it.
 */
export type UndecidedMessage =
  | {
      readonly type: "requests_undecided";
      readonly worker: number;
      readonly batch: number;
      readonly ids: readonly string[];
    }
  /** The reply to the worker `to`: which of them were decided. */
  | {
      readonly type: "requests_decided";
      readonly to: number;
      readonly batch: number;
      readonly ids: readonly string[];
    };

/** Whether it is such a message. It comes from one of our processes, but through JSON. */
export function isUndecidedMessage(message: unknown): message is UndecidedMessage {
  if (typeof message !== "object" || message === null) return false;
  const { type, worker, to, batch, ids } = message as Readonly<Record<string, unknown>>;
  const peer = type === "requests_undecided" ? worker : type === "requests_decided" ? to : undefined;
  return (
    typeof peer === "number" &&
    typeof batch === "number" &&
    Array.isArray(ids) &&
    ids.every((id) => typeof id === "string")
  );
}

export interface UndecidedOptions {
  readonly worker: number;
  /** How many there are, this one included. */
  readonly workers: number;
  /** Sends to the worker `to`, or else to every worker. */
  readonly send: (message: UndecidedMessage) => void;
}

/** More than a worker decides while Envoy's log entry is on its way. */
const MOST_IDS = 32_768;
const GATHER_MS = 50;
const MOST_GATHERED = 500;
/** A worker that has not replied by then is being restarted, and what it knew is lost. */
const PATIENCE_MS = 2_000;

/** Receives whether a worker has made a decision on the request, and recorded it. */
type Settle = (decided: boolean) => void;

interface Batch {
  readonly open: Map<string, Settle>;
  replies: number;
  readonly timer: NodeJS.Timeout;
}

/**
 * Sees to it that a request has one record, although its client may leave, or Envoy may give up, while a worker decides: the
 * worker claims the request before it records its decision, and Envoy's report that there was none asks every worker. Whichever
 * comes first counts.
 */
export class UndecidedRequests {
  readonly #options: UndecidedOptions;
  readonly #decided = new RecentIds(MOST_IDS);
  readonly #reported = new RecentIds(MOST_IDS);
  readonly #batches = new Map<number, Batch>();
  #gathered = new Map<string, Settle>();
  #gathering: NodeJS.Timeout | undefined;
  #serial = 0;

  constructor(options: UndecidedOptions) {
    this.#options = options;
  }

  /** Whether Envoy has reported that the request ended without a decision: nobody waits for one. */
  isReported(id: string): boolean {
    return this.#reported.has(id);
  }

  /** @returns whether the decision on the request may be recorded: false if it has a record, or is going to get one */
  claim(id: string): boolean {
    if (this.#reported.has(id) || this.#decided.has(id)) return false;
    this.#decided.add(id);
    return true;
  }

  /** Envoy reports that the request ended without a decision. Calls `settle` once. */
  report(id: string, settle: Settle): void {
    const isOurs = this.#isDecided(id);
    if (isOurs || this.#options.workers === 1) {
      settle(isOurs);
      return;
    }
    this.#gathered.set(id, settle);
    if (this.#gathered.size >= MOST_GATHERED) this.#ask();
    else
      this.#gathering ??= setTimeout(() => {
        this.#ask();
      }, GATHER_MS).unref();
  }

  take(message: UndecidedMessage): void {
    const { worker: self, send } = this.#options;
    if (message.type === "requests_decided") this.#take(message.batch, message.ids);
    else if (message.worker !== self) {
      const ids = message.ids.filter((id) => this.#isDecided(id));
      send({ type: "requests_decided", to: message.worker, batch: message.batch, ids });
    }
  }

  /** Waits for no further replies. */
  close(): void {
    clearTimeout(this.#gathering);
    for (const batch of this.#batches.keys()) this.#end(batch);
    for (const settle of this.#gathered.values()) settle(false);
    this.#gathered.clear();
  }

  /** What is not decided by now will not be. */
  #isDecided(id: string): boolean {
    if (this.#decided.has(id)) return true;
    this.#reported.add(id);
    return false;
  }

  #ask(): void {
    clearTimeout(this.#gathering);
    this.#gathering = undefined;
    const batch = ++this.#serial;
    const open = this.#gathered;
    this.#gathered = new Map();
    const timer = setTimeout(() => {
      this.#end(batch);
    }, PATIENCE_MS).unref();
    this.#batches.set(batch, { open, replies: 0, timer });
    const { worker, send } = this.#options;
    send({ type: "requests_undecided", worker, batch, ids: [...open.keys()] });
  }

  #take(serial: number, ids: readonly string[]): void {
    const batch = this.#batches.get(serial);
    if (batch === undefined) return;
    for (const id of ids) {
      batch.open.get(id)?.(true);
      batch.open.delete(id);
    }
    batch.replies += 1;
    if (batch.replies >= this.#options.workers - 1) this.#end(serial);
  }

  #end(serial: number): void {
    const batch = this.#batches.get(serial);
    if (batch === undefined) return;
    this.#batches.delete(serial);
    clearTimeout(batch.timer);
    for (const settle of batch.open.values()) settle(false);
  }
}
