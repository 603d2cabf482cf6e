import { inTime } from "../../runtime/in-time.ts";
import type { ConnectionEntry } from "./connection-entry.ts";
import type { ConnectionRegistryOptions, LiveConnection, Reevaluation } from "./connection-types.ts";
import { TimeSlices } from "./time-slices.ts";

/** What an evaluation has changed of a connection. */
export type ConnectionChange = "closed" | "replanned";

type RoundCounts = Record<ConnectionChange | "failed", number>;

export interface EvaluationRoundsOptions extends Pick<
  ConnectionRegistryOptions,
  "evaluate" | "evaluateWithin" | "circumstances" | "log"
> {
  /** A live view: it also comes to what is added meanwhile. */
  readonly entries: () => Iterable<ConnectionEntry>;
  readonly apply: (entry: ConnectionEntry, evaluated: Reevaluation) => ConnectionChange | undefined;
  /** Unix ms. */
  readonly clock: () => number;
  /** A monotonic clock in milliseconds. */
  readonly stopwatch: () => number;
}

/** Evaluated at a time, of those that have to wait for something. */
const MOST_WAITING = 50;

const LATE: Reevaluation = { verdict: "DENY", reason: "DEADLINE_EXCEEDED" };

/** Evaluates open connections in rounds, each connection once in each; a change begins the next. */
export class EvaluationRounds {
  readonly #options: EvaluationRoundsOptions;
  readonly #clock: () => number;
  readonly #slices: TimeSlices;
  #round = 0;
  #changedAt = 0;
  #circumstances: readonly unknown[] = [];
  #pending = false;
  #working: Promise<void> | undefined;

  constructor(options: EvaluationRoundsOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#slices = new TimeSlices(options.stopwatch);
  }

  /** The round of what was evaluated just now. */
  get current(): number {
    return this.#round;
  }

  /** Unix ms: who asked before this may have been evaluated by what was in force before. */
  get changedAt(): number {
    return this.#changedAt;
  }

  noteChange(): void {
    this.#changedAt = this.#clock();
  }

  /** Evaluates one connection again, with others that wait for it. */
  repeat(entry: ConnectionEntry): Promise<void> {
    entry.round = this.#round - 1;
    return this.#work();
  }

  /**
   * Evaluates open connections again, a few at a time. Resolves when that is done, and never rejects. A call while this
   * is under way begins anew: who was evaluated already may have been by what was in force before.
   *
   * @param concerns - selects the steady connections whose decision may have changed; absent: all
   */
  reevaluate(concerns?: (connection: Omit<LiveConnection, "planText">) => boolean): Promise<void> {
    this.noteChange();
    if (concerns === undefined) this.#round += 1;
    else {
      for (const entry of this.#options.entries())
        if (!this.#isSteady(entry) || concerns(entry.connection)) entry.round = this.#round - 1;
    }
    return this.#work();
  }

  /**
   * Evaluates connections whose decision may change without any announcement: time passes, and attribute sources
   * change.
   */
  refresh(): Promise<void> {
    const before = this.#circumstances;
    const now = this.#options.circumstances?.() ?? [];
    this.#circumstances = now;
    const changed = now.length !== before.length || now.some((value, at) => !Object.is(value, before[at]));
    return this.reevaluate(changed ? undefined : () => false);
  }

  /** Removes expired connections, which Envoy closes by itself. */
  #isSteady({ steady, connection: { expiresAt } }: ConnectionEntry): boolean {
    return steady && (expiresAt === undefined || this.#clock() < expiresAt * 1000);
  }

  #work(): Promise<void> {
    this.#pending = true;
    return (this.#working ??= this.#reevaluateAll());
  }

  async #reevaluateAll(): Promise<void> {
    // also ensures that the caller has the promise before this ends
    await this.#slices.next();
    const counts: RoundCounts = { closed: 0, replanned: 0, failed: 0 };
    while (this.#isPending()) {
      this.#pending = false;
      let waiting: Promise<void>[] = [];
      // a Map's iterator also visits entries added during iteration
      for (const entry of this.#options.entries()) {
        if (entry.round === this.#round || entry.closing !== undefined) continue;
        entry.round = this.#round;
        const evaluating = this.#reevaluateEntry(entry, counts);
        if (evaluating !== undefined) waiting.push(evaluating);
        if (waiting.length >= MOST_WAITING) {
          await Promise.all(waiting);
          waiting = [];
        }
        if (this.#slices.isOver()) await this.#slices.next();
      }
      await Promise.all(waiting);
    }
    this.#working = undefined;
    if (counts.closed + counts.replanned > 0)
      this.#options.log.info(counts, "open connections were evaluated again");
  }

  /** A method, because the value may change during an await. */
  #isPending(): boolean {
    return this.#pending;
  }

  /** @returns nothing if there was nothing to wait for; never rejects */
  #reevaluateEntry(entry: ConnectionEntry, counts: RoundCounts): Promise<void> | undefined {
    const { access } = entry.connection;
    const { evaluate, evaluateWithin = 5_000 } = this.#options;
    const now = this.#clock();
    const failed = (error: unknown) => {
      this.#failed(entry, error, counts);
    };
    const apply = (evaluated: Reevaluation) => {
      try {
        this.#apply(entry, evaluated, counts);
      } catch (error) {
        failed(error);
      }
    };
    try {
      const answer = evaluate({ ...access, receivedAt: now, deadline: now + evaluateWithin });
      if (answer instanceof Promise) {
        return inTime(answer, evaluateWithin, LATE).then(
          (evaluated) =>
            this.#slices.run(() => {
              apply(evaluated);
            }),
          failed,
        );
      }
      apply(answer);
    } catch (error) {
      failed(error);
    }
    return undefined;
  }

  #failed(entry: ConnectionEntry, error: unknown, counts: RoundCounts): void {
    // log only one: the next ten thousand will fail in the same way
    counts.failed += 1;
    if (counts.failed === 1)
      this.#options.log.error(
        { err: error, decision_id: entry.connection.decisionId },
        "an open connection could not be evaluated again",
      );
    this.#apply(entry, { verdict: "DENY", reason: "INTERNAL_ERROR" }, counts);
  }

  #apply(entry: ConnectionEntry, evaluated: Reevaluation, counts: RoundCounts): void {
    const change = this.#options.apply(entry, evaluated);
    if (change !== undefined) counts[change] += 1;
  }
}
