import { AsyncLocalStorage } from "node:async_hooks";

/** For whom connections are taken. */
export interface Caller {
  readonly id: string;
  /** The key, client or person that sends the request, by id, if several of them are one caller; for the log. */
  readonly actor?: string;
  /** Aborted when nobody waits for the result any more. What is in the queue then rejects with its reason. */
  readonly signal: AbortSignal;
  /** Waits for turns as long as it takes: an answer has begun, and a turn that is refused would cut it off. */
  readonly isPatient?: true;
}

/** Why a caller gets no turn: too many of its requests are waiting already, or this one has waited too long. */
export const TURN_REFUSALS = ["queue_full", "timeout"] as const;
export type TurnRefusal = (typeof TURN_REFUSALS)[number];

const MESSAGES = {
  queue_full: "too many requests of one caller are waiting",
  timeout: "timed out waiting for a turn of the caller",
} as const satisfies Record<TurnRefusal, string>;

/** A caller gets no turn. */
export class TooManyWaitingError extends Error {
  readonly reason: TurnRefusal;

  constructor(reason: TurnRefusal) {
    super(MESSAGES[reason]);
    this.name = "TooManyWaitingError";
    this.reason = reason;
  }
}

/** One refused turn. */
export interface RefusedTurn {
  readonly caller: Pick<Caller, "id" | "actor">;
  readonly reason: TurnRefusal;
  /** Whether it is the caller's first one since it began to wait: a flood needs only one line in the log. */
  readonly isFirst: boolean;
}

export interface CallerTurnsOptions {
  /** Turns in progress at once, of all callers. */
  readonly atOnce: number;
  /** Those of one caller. Default: all but one. */
  readonly mostOfOne?: number;
  /** Maximum time in the queue, in milliseconds. */
  readonly longestMs: number;
  /** Maximum number of turns that one caller waits for. Default: 1,000. */
  readonly mostWaiting?: number;
  /** Called for each refused turn, before it is refused. */
  readonly onRefused?: (refused: RefusedTurn) => void;
}

/** Lets one turn begin. */
type Waiting = () => void;

/** The turns that one caller waits for, the next one first. */
interface Queue {
  readonly turns: Set<Waiting>;
  /** Whether one was refused since the queue began. */
  isRefusing: boolean;
}

const MOST_WAITING = 1_000;
const IGNORED = () => undefined;
const callers = new AsyncLocalStorage<{ caller: Caller | undefined }>();

/** Runs `work`; connections are taken for this caller until it settles, whatever else it has started. */
export async function forCaller<T>(caller: Caller, work: () => Promise<T>): Promise<T> {
  const scope: { caller: Caller | undefined } = { caller };
  try {
    return await callers.run(scope, work);
  } finally {
    scope.caller = undefined;
  }
}

/**
 * Reads items for this caller, whatever asks for the next one: in an event of a socket, for example, there is no caller.
 */
export async function* itemsForCaller<Item>(
  caller: Caller,
  items: AsyncIterable<Item>,
): AsyncGenerator<Item> {
  const iterator = items[Symbol.asyncIterator]();
  let isOver = false;
  try {
    for (;;) {
      const next = await forCaller(caller, () => iterator.next());
      if (next.done === true) {
        isOver = true;
        return;
      }
      yield next.value;
    }
  } finally {
    if (!isOver) await iterator.return?.();
  }
}

/**
 * Runs `work`, whose result others use as well: it must not wait behind the work of the caller that happens to start
 * it, nor end with that caller's request.
 */
export function forAllCallers<T>(work: () => T): T {
  return callers.run({ caller: undefined }, work);
}

/** @returns `undefined` for work that is not done for one caller */
export function currentCaller(): Caller | undefined {
  return callers.getStore()?.caller;
}

/**
 * Divides connections among callers. One caller alone never has more than its share, and those that wait take turns,
 * whatever the number of their requests.
 */
export class CallerTurns {
  readonly #options: Required<CallerTurnsOptions>;
  readonly #mostOfOne: number;
  #free: number;
  readonly #running = new Map<string, number>();
  /** By caller, the next one first; nobody has an empty queue. */
  readonly #waiting = new Map<string, Queue>();

  constructor(options: CallerTurnsOptions) {
    this.#mostOfOne = options.mostOfOne ?? Math.max(1, options.atOnce - 1);
    this.#options = {
      ...{ mostWaiting: MOST_WAITING, onRefused: IGNORED },
      ...options,
      mostOfOne: this.#mostOfOne,
    };
    this.#free = options.atOnce;
  }

  /**
   * Waits for a turn of the caller.
   *
   * @returns ends the turn
   * @throws TooManyWaitingError; the reason of the signal if it is aborted and there is no turn yet
   */
  async take(caller: Caller): Promise<() => void> {
    const { id } = caller;
    if (this.#free > 0 && this.#mayRun(id)) this.#begin(id);
    else await this.#wait(caller);
    return () => {
      this.#end(id);
    };
  }

  /** If something is free, only callers that have their share are waiting: so a new one overtakes nobody. */
  #mayRun(id: string): boolean {
    return (this.#running.get(id) ?? 0) < this.#mostOfOne;
  }

  #begin(id: string): void {
    this.#free -= 1;
    this.#running.set(id, (this.#running.get(id) ?? 0) + 1);
  }

  #end(id: string): void {
    this.#free += 1;
    const left = (this.#running.get(id) ?? 1) - 1;
    if (left === 0) this.#running.delete(id);
    else this.#running.set(id, left);
    this.#beginNext();
  }

  #beginNext(): void {
    for (const [id, queue] of this.#waiting) {
      if (this.#free === 0) return;
      const [next] = queue.turns;
      if (next === undefined || !this.#mayRun(id)) continue;
      this.#leave(id, next);
      // behind the others
      if (this.#waiting.delete(id)) this.#waiting.set(id, queue);
      this.#begin(id);
      next();
    }
  }

  async #wait(caller: Caller): Promise<void> {
    const { id, signal, isPatient = false } = caller;
    signal.throwIfAborted();
    const { longestMs, mostWaiting } = this.#options;
    const queue: Queue = this.#waiting.get(id) ?? { turns: new Set(), isRefusing: false };
    if (queue.turns.size >= mostWaiting && !isPatient) throw this.#refuse(caller, queue, "queue_full");
    this.#waiting.set(id, queue);
    const { promise, resolve, reject } = Promise.withResolvers<null>();
    const waiting: Waiting = () => {
      resolve(null);
    };
    queue.turns.add(waiting);
    const giveUp = (reason: unknown) => {
      this.#leave(id, waiting);
      reject(reason);
    };
    const late = () => {
      giveUp(this.#refuse(caller, queue, "timeout"));
    };
    const timer = longestMs > 0 && !isPatient ? setTimeout(late, longestMs) : undefined;
    const gone = () => {
      giveUp(signal.reason);
    };
    signal.addEventListener("abort", gone);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", gone);
    }
  }

  #refuse({ id, actor }: Caller, queue: Queue, reason: TurnRefusal): TooManyWaitingError {
    const isFirst = !queue.isRefusing;
    queue.isRefusing = true;
    this.#options.onRefused({
      caller: { id, ...(actor !== undefined && { actor }) },
      reason,
      isFirst,
    });
    return new TooManyWaitingError(reason);
  }

  #leave(id: string, waiting: Waiting): void {
    const queue = this.#waiting.get(id);
    queue?.turns.delete(waiting);
    if (queue?.turns.size === 0) this.#waiting.delete(id);
  }
}
