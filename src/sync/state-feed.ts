import type { StateAnswer } from "../protocol/index.ts";
import { Backoff } from "../runtime/backoff.ts";
import { every, type Job, type JobLog } from "../runtime/every.ts";
import { sleep } from "../runtime/sleep.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { ControlPlaneClient } from "./client.ts";
import type { CheckStatus } from "../telemetry/check-status.ts";
import { ControlPlaneError, isKeyRefused } from "./control-plane-error.ts";
import { SessionExpiry } from "./session-expiry.ts";
import { AppliedState, type SyncedState } from "./synced-state.ts";

export interface StateFeedOptions {
  /** Milliseconds without an answer after which nothing is known any more. */
  readonly maxStaleMs: number;
  /** Milliseconds after which nothing is known any more since the control plane has refused the key; 60,000. */
  readonly keyRefusedGraceMs?: number;
  /** How long the control plane may hold an answer back; 20. */
  readonly waitSeconds?: number;
}

export interface StateFeedDependencies {
  readonly client: Pick<ControlPlaneClient, "state">;
  readonly metrics: Pick<
    Metrics,
    "feedTime" | "feedFailures" | "feedAnswers" | "feedEntries" | "feedKeyRefused"
  >;
  readonly log: JobLog;
  /** Unix ms. */
  readonly clock?: () => number;
  /** Waits between questions. */
  readonly sleep?: typeof sleep;
}

/** What an answer was about. */
export interface StateChange {
  readonly sessions: readonly string[];
  readonly customers: readonly string[];
  readonly users: readonly string[];
  readonly policySets: readonly string[];
  /** Everything may have changed: what is not named has become ordinary, and changes may have been missed. */
  readonly complete: boolean;
}

const WAIT_SECONDS = 20;
const KEY_REFUSED_GRACE_MS = 60_000;
const RETRIES = { firstMs: 100, longestMs: 5_000 };
/** After an answer that says nothing and did not wait either, or that takes back a cursor: asking on at once would be a flood. */
const IDLE_MS = 250;
/** The whole state is read anew so often: what has become of no interest over there is forgotten here, too. */
const RESYNC_MS = 24 * 3_600_000;
/** How often ended sessions are forgotten that nobody needs to know of any more. */
const SWEEP_MS = 10_000;

/**
 * Follows the control plane: asks for the whole state once, then for what changes, each question waiting there for the
 * next change. An answer is applied aside and put in force by one assignment, and so is each page of a large change: until
 * its page is there, a customer is evaluated as before. While there is no answer, the last good one stays until it is too old, or
 * for a short while where the control plane answers and refuses the key.
 */
export class StateFeed {
  readonly #client: StateFeedDependencies["client"];
  readonly #metrics: StateFeedDependencies["metrics"];
  readonly #log: JobLog;
  readonly #clock: () => number;
  readonly #wait: typeof sleep;
  readonly #maxStaleMs: number;
  readonly #keyRefusedGraceMs: number;
  readonly #waitSeconds: number;
  readonly #closing = new AbortController();
  readonly #listeners = new Set<(change: StateChange) => void>();
  readonly #expiry = new SessionExpiry();
  #state: AppliedState | undefined;
  /** Whether the last complete answer listed the deleted customers: a control plane of an earlier release does not. */
  #listsDeleted = false;
  /** When the last answer came, and the last complete one; Unix ms. */
  #heardAt = Number.NEGATIVE_INFINITY;
  #completeAt = Number.NEGATIVE_INFINITY;
  readonly #backoff = new Backoff(RETRIES);
  /** Why the last question came to nothing. */
  #problem: string | undefined;
  /** Since when the key is refused, Unix ms; until there is an answer again. */
  #refusedAt: number | undefined;
  /** Aborted to ask at once. */
  #waiting = new AbortController();
  #staleness: NodeJS.Timeout | undefined;
  #refusal: NodeJS.Timeout | undefined;
  #sweeping: Job | undefined;
  #polling: Promise<void> | undefined;

  constructor(options: StateFeedOptions, dependencies: StateFeedDependencies) {
    this.#client = dependencies.client;
    this.#metrics = dependencies.metrics;
    this.#log = dependencies.log;
    this.#clock = dependencies.clock ?? Date.now;
    this.#wait = dependencies.sleep ?? sleep;
    this.#maxStaleMs = options.maxStaleMs;
    this.#keyRefusedGraceMs = options.keyRefusedGraceMs ?? KEY_REFUSED_GRACE_MS;
    // while one answer waits nothing is heard: that must not come near to being too old
    const most = Math.floor(options.maxStaleMs / 3000);
    this.#waitSeconds = Math.max(0, Math.min(options.waitSeconds ?? WAIT_SECONDS, most));
  }

  /** What is known; `undefined` before the first answer, when the last one is too old, and some time after the key was refused. */
  get current(): SyncedState | undefined {
    if (this.#age() >= this.#maxStaleMs || this.#isRefusalOver()) return undefined;
    return this.#state;
  }

  /** How it is with the control plane. A refused key counts at once: other than an outage, it does not mend by itself. */
  status(): CheckStatus {
    const isKnown = this.current !== undefined;
    const ok = isKnown && this.#refusedAt === undefined;
    const problem = this.#problem;
    if (problem === undefined) {
      if (isKnown) return { ok, detail: "followed" };
      return { ok, detail: this.#state === undefined ? "it has not answered yet" : this.#sinceHeard() };
    }
    if (this.#state === undefined) return { ok, detail: `nothing is known yet: ${problem}` };
    if (!isKnown)
      return { ok, detail: `${problem}; what was known (${this.#sinceHeard()}) is not used any more` };
    const until = new Date(this.#usedUntil()).toISOString();
    return { ok, detail: `${problem}; what was known (${this.#sinceHeard()}) is used until ${until}` };
  }

  /** Asks now instead of waiting: there is reason to believe that the answer is another one. */
  askNow(): void {
    this.#waiting.abort();
  }

  /** Asks for the first time and goes on following. Never rejects; look at {@link current}. */
  async start(): Promise<void> {
    if (this.#polling !== undefined || this.#isClosed()) return;
    this.#sweeping = every(
      SWEEP_MS,
      () => {
        this.#sweep();
      },
      { what: "forget ended sessions", log: this.#log },
    );
    const first = this.#ask();
    this.#polling = first.then((pause) => this.#follow(pause));
    await first;
  }

  close(): void {
    this.#closing.abort();
    clearTimeout(this.#staleness);
    clearTimeout(this.#refusal);
    void this.#sweeping?.close();
    this.#listeners.clear();
  }

  /**
   * Calls `listener` after each change was put in force.
   *
   * @returns how to stop
   */
  onChange(listener: (change: StateChange) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  async #follow(firstPause: number): Promise<void> {
    let pause = firstPause;
    while (!this.#isClosed()) {
      if (pause > 0) await this.#sleep(pause);
      if (!this.#isClosed()) pause = await this.#ask();
    }
  }

  /** @returns how long to wait before the next question */
  async #ask(): Promise<number> {
    const began = this.#clock();
    const isDue = this.#state === undefined || began - this.#completeAt >= RESYNC_MS;
    const after = isDue ? undefined : this.#state?.cursor;
    const waiting = new AbortController();
    this.#waiting = waiting;
    const signal = AbortSignal.any([this.#closing.signal, waiting.signal]);
    let answer: StateAnswer;
    try {
      // after a failure any answer is news: the key is accepted, or the control plane is back
      answer = await this.#client.state(after, this.#backoff.failures > 0 ? 0 : this.#waitSeconds, signal);
    } catch (error) {
      return this.#isClosed() || waiting.signal.aborted ? 0 : this.#failed(error);
    }
    if (this.#isClosed()) return 0;
    this.#succeeded(answer);
    const isLastPage = answer.more !== true;
    const saysNothingNew = answer.complete ? after !== undefined : isLastPage && !saysSomething(answer);
    return saysNothingNew && this.#clock() - began < IDLE_MS ? IDLE_MS : 0;
  }

  #succeeded(answer: StateAnswer): void {
    const now = this.#clock();
    const next =
      answer.complete || this.#state === undefined ? AppliedState.of(answer) : this.#state.after(answer);
    const lists = answer.customers_deleted !== undefined;
    if (answer.complete) {
      this.#completeAt = now;
      this.#listsDeleted = lists;
      // now that a newer release answers, the complete state has them
    } else if (lists && !this.#listsDeleted) this.#completeAt = Number.NEGATIVE_INFINITY;
    this.#state = next;
    this.#heardAt = now;
    this.#metrics.feedAnswers.inc({ kind: answer.complete ? "complete" : "change" });
    this.#metrics.feedTime.set(now / 1000);
    this.#metrics.feedEntries.set(next.size);
    if (this.#backoff.failures > 0 || answer.complete)
      this.#log.info(
        { entries: next.size, complete: answer.complete },
        "the control plane is being followed",
      );
    this.#backoff.succeeded();
    this.#problem = undefined;
    this.#refusedAt = undefined;
    clearTimeout(this.#refusal);
    this.#metrics.feedKeyRefused.set(0);
    this.#watchAge();
    if (answer.complete) this.#expiry.clear();
    for (const { session_id } of answer.sessions_ended)
      this.#expiry.add(session_id, next.forgettableAt(session_id) ?? 0);
    if (answer.complete || saysSomething(answer)) this.#tell(answer);
  }

  #tell({ complete, customers, sessions_ended, users, policy_sets }: StateAnswer): void {
    const change: StateChange = {
      sessions: sessions_ended.map(({ session_id }) => session_id),
      customers: customers.map(({ id }) => id),
      users: users.map(({ id }) => id),
      policySets: policy_sets.map(({ name }) => name),
      complete,
    };
    for (const listener of this.#listeners) {
      try {
        listener(change);
      } catch (error) {
        this.#log.error({ err: error }, "a listener to the control plane's changes failed");
      }
    }
  }

  #failed(error: unknown): number {
    this.#metrics.feedFailures.inc();
    const { code, message, retryAfterMs } = asFailure(error);
    const isRefused = isKeyRefused(error);
    this.#problem = isRefused
      ? `it refuses this gateway's API key (${error.status ?? ""} ${code}: ${message})`
      : message;
    if (isRefused && this.#refusedAt === undefined) this.#keyRefused(code, message);
    else if (this.#backoff.failures === 0)
      this.#log.error(
        { code, problem: message },
        `the control plane cannot be followed; ${this.#whatIsUsed(this.#maxStaleMs)}`,
      );
    return Math.max(retryAfterMs ?? 0, this.#backoff.failed());
  }

  #keyRefused(code: string, message: string): void {
    this.#refusedAt = this.#clock();
    this.#metrics.feedKeyRefused.set(1);
    this.#log.error(
      { code, problem: message },
      `the control plane refuses this gateway's API key; ${this.#whatIsUsed(this.#keyRefusedGraceMs)}`,
    );
    if (this.#state === undefined) return;
    this.#refusal = setTimeout(
      () => {
        if (this.#isRefusalOver())
          this.#log.error(
            { code, problem: message },
            "the control plane still refuses this gateway's API key; tokens of its users are refused from now on",
          );
      },
      Math.min(this.#keyRefusedGraceMs, LONGEST_TIMER_MS),
    ).unref();
  }

  #whatIsUsed(forMs: number): string {
    if (this.#state === undefined) return "nothing is known, so tokens of its users are refused";
    return `the last state is used for ${Math.round(forMs / 1000)} s at most`;
  }

  #isRefusalOver(): boolean {
    return (
      this.#refusedAt !== undefined && Math.abs(this.#clock() - this.#refusedAt) >= this.#keyRefusedGraceMs
    );
  }

  /** Until when what is known is used, unless there is an answer; Unix ms. */
  #usedUntil(): number {
    const stale = this.#heardAt + this.#maxStaleMs;
    return this.#refusedAt === undefined ? stale : Math.min(stale, this.#refusedAt + this.#keyRefusedGraceMs);
  }

  #sinceHeard(): string {
    return `as of ${new Date(this.#heardAt).toISOString()}`;
  }

  /** Says once when what is known has become too old. */
  #watchAge(): void {
    clearTimeout(this.#staleness);
    const left = Math.min(this.#maxStaleMs, LONGEST_TIMER_MS);
    this.#staleness = setTimeout(() => {
      if (this.current === undefined)
        this.#log.error({ age_ms: this.#age() }, "the control plane's state is too old to be used");
    }, left).unref();
  }

  #sweep(): void {
    const state = this.#state;
    if (state === undefined) return;
    const now = this.#clock();
    const over = this.#expiry.takeDue(now).filter((id) => (state.forgettableAt(id) ?? 0) <= now);
    if (over.length === 0) return;
    this.#state = state.forgetting(over);
    this.#metrics.feedEntries.set(this.#state.size);
  }

  /** A clock that was set back does not make what is known younger. */
  #age(): number {
    return Math.abs(this.#clock() - this.#heardAt);
  }

  async #sleep(ms: number): Promise<void> {
    const signal = AbortSignal.any([this.#closing.signal, this.#waiting.signal]);
    await this.#wait(ms, { signal, ref: false });
  }

  /** Looked at again after each wait; a method, so that the compiler does not take the first answer for the last. */
  #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }
}

/** What setTimeout can hold. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

function saysSomething({ customers, sessions_ended, users, policy_sets }: StateAnswer): boolean {
  return customers.length + sessions_ended.length + users.length + policy_sets.length > 0;
}

function asFailure(error: unknown): Pick<ControlPlaneError, "code" | "message" | "retryAfterMs"> {
  return error instanceof ControlPlaneError
    ? error
    : {
        code: "UNKNOWN",
        message: error instanceof Error ? error.message : "failed",
        retryAfterMs: undefined,
      };
}
