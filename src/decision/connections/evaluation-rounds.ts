import { inTime } from "../../runtime/in-time.ts";
import type { ConnectionEntry } from "./connection-entry.ts";
import type { ConnectionRegistryOptions, LiveConnection, Reevaluation } from "./connection-types.ts";
import { TimeSlices } from "./time-slices.ts";

/** What an evaluation has changed about a connection. */
export type ConnectionChange = "closed" | "replanned";

type RoundCounts = Record<ConnectionChange | "failed", number>;

export interface EvaluationRoundsOptions extends Pick<
  ConnectionRegistryOptions,
  "evaluate" | "evaluateWithin" | "circumstances" | "log"
> {
  /** A live view that includes entries added during a round. */
  readonly entries: () => Iterable<ConnectionEntry>;
  readonly apply: (entry: ConnectionEntry, evaluated: Reevaluation) => ConnectionChange | undefined;
  /** Unix ms. */
  readonly clock: () => number;
  /** Monotonic time in milliseconds. */
  readonly stopwatch: () => number;
}

/** Maximum number of concurrent evaluations, of those that wait for something. */
const MOST_WAITING = 50;

const LATE: Reevaluation = { verdict: "DENY", reason: "DEADLINE_EXCEEDED" };

/** Evaluates open connections in rounds, each connection once per round. A change starts the next round. */
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

  /** The current round. */
  get current(): number {
    return this.#round;
  }

  /** Time of the last change, Unix ms: a decision that began earlier may have used what was in force before. */
  get changedAt(): number {
    return this.#changedAt;
  }

  noteChange(): void {
    this.#changedAt = this.#clock();
  }

  /** Evaluates one connection again, together with any others that are due. */
  repeat(entry: ConnectionEntry): Promise<void> {
    entry.round = this.#round - 1;
    return this.#work();
  }

  /**
   * Evaluates open connections again, a few at a time. Resolves when done; never rejects. A call during a round starts
   * over, because connections evaluated so far may have used the earlier policies or state.
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

  /** An expired connection that is still here should have been closed by Envoy, so it is not steady. */
  #isSteady({ steady, connection: { expiresAt } }: ConnectionEntry): boolean {
    return steady && (expiresAt === undefined || this.#clock() < expiresAt * 1000);
  }

  #work(): Promise<void> {
    this.#pending = true;
    return (this.#working ??= this.#reevaluateAll());
  }

  async #reevaluateAll(): Promise<void> {
    // also so that the caller has the promise before this ends
    await this.#slices.next();
    const counts: RoundCounts = { closed: 0, replanned: 0, failed: 0 };
    while (this.#isPending()) {
      this.#pending = false;
      let waiting: Promise<void>[] = [];
      // a Map's iterator also visits entries added during the loop
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
      this.#options.log.info(counts, "evaluated open connections again");
  }

  /** A method, because the value may have changed during an await. */
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
    // log only one: the next ten thousand would fail in the same way
    counts.failed += 1;
    if (counts.failed === 1)
      this.#options.log.error(
        { err: error, decision_id: entry.connection.decisionId },
        "cannot evaluate an open connection again",
      );
    this.#apply(entry, { verdict: "DENY", reason: "INTERNAL_ERROR" }, counts);
  }

  #apply(entry: ConnectionEntry, evaluated: Reevaluation, counts: RoundCounts): void {
    const change = this.#options.apply(entry, evaluated);
    if (change !== undefined) counts[change] += 1;
  }
}
