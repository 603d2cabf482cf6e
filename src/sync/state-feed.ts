import type { StateAnswer } from "../protocol/index.ts";
import { Backoff } from "../runtime/backoff.ts";
import { every, type Job, type JobLog } from "../runtime/every.ts";
import { sleep } from "../runtime/sleep.ts";
import type { CheckStatus } from "../telemetry/check-status.ts";
import { asFailure, isKeyRefused } from "./control-plane-error.ts";
import { SessionExpiry } from "./session-expiry.ts";
import { changeOf, saysSomething } from "./state-answer.ts";
import type { StateChange, StateFeedDependencies, StateFeedOptions } from "./state-feed-types.ts";
import { AppliedState, type SyncedState } from "./synced-state.ts";

/**
 * A complete state that is not in force. Nothing of it counts before the last page has arrived: everybody on a missing page
 * would have no restrictions. Nor before what has changed since the first page has arrived, too: the state in force may
 * know of it already.
 */
interface IncomingState {
  readonly state: AppliedState;
  /** Of all pages. */
  readonly sessions: StateAnswer["sessions_ended"];
  /** Whether all pages are there. */
  readonly hasPages: boolean;
  /** Whether the state in force can still follow the changes meanwhile: its cursor is not too old. */
  readonly canCatchUp: boolean;
}

/** What a request is for: the state in force, or the one that comes in pages. */
type Purpose = "change" | "page" | "catchUp";

const WAIT_SECONDS = 20;
const KEY_REFUSED_GRACE_MS = 60_000;
const RETRIES = { firstMs: 100, longestMs: 5_000 };
/** Pause after a response that has no news and did not wait either, or that resets the cursor: polling at once would be a flood. */
const IDLE_MS = 250;
/** How often the whole state is fetched again, so that entries dropped by the control plane are dropped here, too. */
const RESYNC_MS = 24 * 3_600_000;
/** How often ended sessions that are no longer needed are dropped. */
const SWEEP_MS = 10_000;

/**
 * Syncs with the control plane by long polling: fetches the whole state once, in pages if it is large, then the changes. Each response, and each page
 * of a large change, is applied to a copy that is put in force by one assignment; until its page has arrived, a customer's
 * old state applies. Between the pages of a complete state, the state in force follows the changes as always. While the control plane does not respond, the last good state stays in use until it is too old, or for
 * a short while if the control plane refuses the key.
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
  #incoming: IncomingState | undefined;
  #lastPurpose: Purpose = "change";
  /** Whether the last complete response listed the deleted customers: a control plane of an earlier release does not. */
  #listsDeleted = false;
  /** Time of the last response, and of the last complete one; Unix ms. */
  #heardAt = Number.NEGATIVE_INFINITY;
  #completeAt = Number.NEGATIVE_INFINITY;
  readonly #backoff = new Backoff(RETRIES);
  /** Of pages that fail while changes do not. */
  readonly #pageBackoff = new Backoff(RETRIES);
  /** When the next page may be asked for, Unix ms. */
  #nextPageAt = 0;
  /** Why the last request failed. */
  #problem: string | undefined;
  /** When the key was first refused, Unix ms; unset again by a success. */
  #refusedAt: number | undefined;
  /** Aborted to poll at once. */
  #waiting = new AbortController();
  #staleness: NodeJS.Timeout | undefined;
  #refusal: NodeJS.Timeout | undefined;
  #sweeping: Job | undefined;
  #polling: Promise<void> | undefined;
  #asked: (() => void)[] = [];

  constructor(options: StateFeedOptions, dependencies: StateFeedDependencies) {
    this.#client = dependencies.client;
    this.#metrics = dependencies.metrics;
    this.#log = dependencies.log;
    this.#clock = dependencies.clock ?? Date.now;
    this.#wait = dependencies.sleep ?? sleep;
    this.#maxStaleMs = options.maxStaleMs;
    this.#keyRefusedGraceMs = options.keyRefusedGraceMs ?? KEY_REFUSED_GRACE_MS;
    // the state ages while a poll waits: a wait must stay well below the maximum age
    const most = Math.floor(options.maxStaleMs / 3000);
    this.#waitSeconds = Math.max(0, Math.min(options.waitSeconds ?? WAIT_SECONDS, most));
  }

  /** The state; `undefined` before the first response, when the last one is too old, and some time after the key was refused. */
  get current(): SyncedState | undefined {
    if (this.#age() >= this.#maxStaleMs || this.#isRefusalOver()) return undefined;
    return this.#state;
  }

  /** Readiness of the sync. A refused key counts at once, because unlike an outage it does not resolve by itself. */
  status(): CheckStatus {
    const isKnown = this.current !== undefined;
    const ok = isKnown && this.#refusedAt === undefined;
    const problem = this.#problem;
    if (problem === undefined) {
      if (isKnown) return { ok, detail: "in sync" };
      return { ok, detail: this.#state === undefined ? "no response yet" : this.#sinceHeard() };
    }
    if (this.#state === undefined) return { ok, detail: `no state yet: ${problem}` };
    if (!isKnown)
      return { ok, detail: `${problem}; the last state (${this.#sinceHeard()}) is no longer used` };
    const until = new Date(this.#usedUntil()).toISOString();
    return { ok, detail: `${problem}; the last state (${this.#sinceHeard()}) is used until ${until}` };
  }

  /** Polls now instead of waiting, because the result has probably changed. */
  askNow(): void {
    this.#waiting.abort();
  }

  /**
   * For a process that does not run all the time, and has missed what happened meanwhile: polls now, unless there was a response
   * within `maxAgeMs`. Resolves after the next response or failure; check {@link current}.
   */
  async freshen(maxAgeMs: number): Promise<void> {
    if (this.#isClosed() || this.#age() <= maxAgeMs) return;
    const asked = new Promise<void>((resolve) => this.#asked.push(resolve));
    this.askNow();
    await asked;
  }

  /** Polls for the first time, then keeps syncing. Never rejects; see {@link current}. */
  async start(): Promise<void> {
    if (this.#polling !== undefined || this.#isClosed()) return;
    this.#sweeping = every(
      SWEEP_MS,
      () => {
        this.#sweep();
      },
      { what: "drop ended sessions", log: this.#log },
    );
    const first = this.#askFirst();
    this.#polling = first.then((pause) => this.#follow(pause));
    await first;
  }

  close(): void {
    this.#closing.abort();
    this.#wasAsked();
    clearTimeout(this.#staleness);
    clearTimeout(this.#refusal);
    void this.#sweeping?.close();
    this.#listeners.clear();
  }

  /**
   * Calls `listener` after each change has been put in force.
   *
   * @returns a function that removes the listener
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

  /** Asks until there is a state, in however many pages, or a failure. */
  async #askFirst(): Promise<number> {
    let pause = await this.#ask();
    while (this.#incoming !== undefined && this.#backoff.failures === 0 && !this.#isClosed()) {
      if (pause > 0) await this.#sleep(pause);
      pause = await this.#ask();
    }
    return pause;
  }

  /** @returns how long to wait before the next request */
  async #ask(): Promise<number> {
    const began = this.#clock();
    const purpose = this.#nextPurpose();
    this.#lastPurpose = purpose;
    const after = this.#cursorFor(purpose);
    const waiting = new AbortController();
    this.#waiting = waiting;
    const signal = AbortSignal.any([this.#closing.signal, waiting.signal]);
    let answer: StateAnswer;
    try {
      answer = await this.#client.state(after, this.#waitFor(purpose), signal);
    } catch (error) {
      if (this.#isClosed() || waiting.signal.aborted) return 0;
      if (purpose === "page" && this.#incoming?.canCatchUp === true && !isKeyRefused(error)) {
        this.#pageFailed(error);
        return 0;
      }
      const pause = this.#failed(error);
      this.#wasAsked();
      return pause;
    }
    if (this.#isClosed()) return 0;
    if (this.#received(answer, purpose, after)) this.#wasAsked();
    const isNews = answer.complete ? after === undefined : answer.more === true || saysSomething(answer);
    return isNews || this.#clock() - began >= IDLE_MS ? 0 : this.#idleAfter(purpose, answer.complete);
  }

  /** @param isReset - whether the control plane no longer knew the cursor */
  #idleAfter(purpose: Purpose, isReset: boolean): number {
    switch (purpose) {
      case "change":
        return IDLE_MS;
      case "catchUp":
        // a reset is not asked for again; nor does a page that may be asked for wait
        return isReset ? 0 : Math.min(IDLE_MS, this.#untilNextPage());
      case "page":
        return isReset ? IDLE_MS : 0;
    }
  }

  /** Pages and changes of the state in force take turns, so that neither waits for all of the other. */
  #nextPurpose(): Purpose {
    if (this.#incoming === undefined) return "change";
    const { canCatchUp } = this.#incoming;
    return canCatchUp && (this.#lastPurpose !== "catchUp" || this.#untilNextPage() > 0) ? "catchUp" : "page";
  }

  /** Seconds for which the control plane may hold the response. */
  #waitFor(purpose: Purpose): number {
    // after a failure, any response is news: the key is accepted, or the control plane is available again
    if (this.#backoff.failures > 0) return 0;
    switch (purpose) {
      case "change":
        return this.#waitSeconds;
      case "catchUp":
        return Math.min(this.#waitSeconds, Math.ceil(this.#untilNextPage() / 1000));
      case "page":
        // once all pages are there, the answer puts them in force, even if nothing has changed since the first
        return this.#incoming?.hasPages === true ? 0 : this.#waitSeconds;
    }
  }

  #untilNextPage(): number {
    return this.#pageBackoff.failures === 0 ? 0 : Math.max(0, this.#nextPageAt - this.#clock());
  }

  #cursorFor(purpose: Purpose): string | undefined {
    if (purpose === "page") return this.#incoming?.state.cursor;
    const isDue = this.#clock() - this.#completeAt >= RESYNC_MS;
    return purpose === "change" && isDue ? undefined : this.#state?.cursor;
  }

  /**
   * @param after - the cursor that was asked for
   * @returns whether it is in force; a complete state is when its last page has arrived, and what has changed since the first
   */
  #received(answer: StateAnswer, purpose: Purpose, after: string | undefined): boolean {
    const incoming = this.#incoming;
    if (purpose === "catchUp" && answer.complete) {
      this.#incoming = incoming && { ...incoming, canCatchUp: false };
      return false;
    }
    const begun = purpose === "page" && !answer.complete ? incoming : undefined;
    if (!answer.complete && begun === undefined) {
      this.#succeeded(answer, this.#state?.after(answer) ?? AppliedState.of(answer));
      return true;
    }
    const state = begun?.state.after(answer) ?? AppliedState.of(answer);
    const sessions = [...(begun?.sessions ?? []), ...answer.sessions_ended];
    const hasPages = begun?.hasPages === true || answer.more !== true;
    const isBehind = answer.more === true || begun?.hasPages === false;
    if (isBehind) {
      const canCatchUp = incoming?.canCatchUp ?? (this.#state !== undefined && after === undefined);
      this.#incoming = { state, sessions, hasPages, canCatchUp };
      this.#metrics.feedAnswers.inc({ kind: "page" });
      this.#backoff.succeeded();
      this.#pageBackoff.succeeded();
      return false;
    }
    this.#incoming = undefined;
    this.#pageBackoff.succeeded();
    this.#succeeded({ ...answer, complete: true, sessions_ended: sessions }, state);
    return true;
  }

  #succeeded(answer: StateAnswer, next: AppliedState): void {
    const now = this.#clock();
    const lists = answer.customers_deleted !== undefined;
    if (answer.complete) {
      this.#completeAt = now;
      this.#listsDeleted = lists;
      // a newer release has responded: its complete state lists them
    } else if (lists && !this.#listsDeleted) this.#completeAt = Number.NEGATIVE_INFINITY;
    this.#state = next;
    this.#heardAt = now;
    this.#metrics.feedAnswers.inc({ kind: answer.complete ? "complete" : "change" });
    this.#metrics.feedTime.set(now / 1000);
    this.#metrics.feedEntries.set(next.size);
    if (this.#backoff.failures > 0 || answer.complete)
      this.#log.info({ entries: next.size, complete: answer.complete }, "in sync with the control plane");
    this.#backoff.succeeded();
    this.#problem = undefined;
    this.#refusedAt = undefined;
    clearTimeout(this.#refusal);
    this.#metrics.feedKeyRefused.set(0);
    this.#watchAge();
    if (answer.complete) this.#expiry.clear();
    for (const { session_id } of answer.sessions_ended)
      this.#expiry.add(session_id, next.forgettableAt(session_id) ?? 0);
    if (answer.complete || saysSomething(answer)) this.#tell(changeOf(answer));
  }

  #wasAsked(): void {
    for (const resolve of this.#asked.splice(0)) resolve();
  }

  #tell(change: StateChange): void {
    for (const listener of this.#listeners) {
      try {
        listener(change);
      } catch (error) {
        this.#log.error({ err: error }, "a listener for control-plane changes failed");
      }
    }
  }

  #failed(error: unknown): number {
    this.#metrics.feedFailures.inc();
    const { code, message, retryAfterMs } = asFailure(error);
    const isRefused = isKeyRefused(error);
    this.#problem = isRefused
      ? `it refused this gateway's API key (${error.status ?? ""} ${code}: ${message})`
      : message;
    if (isRefused && this.#refusedAt === undefined) this.#keyRefused(code, message);
    else if (this.#backoff.failures === 0)
      this.#log.error(
        { code, problem: message },
        `could not sync with the control plane; ${this.#whatIsUsed(this.#maxStaleMs)}`,
      );
    return Math.max(retryAfterMs ?? 0, this.#backoff.failed());
  }

  /** The state in force goes on following the changes meanwhile. */
  #pageFailed(error: unknown): void {
    this.#metrics.feedFailures.inc();
    const { code, message, retryAfterMs } = asFailure(error);
    if (this.#pageBackoff.failures === 0)
      this.#log.warn({ code, problem: message }, "could not read a page of the complete state; will retry");
    this.#nextPageAt = this.#clock() + Math.max(retryAfterMs ?? 0, this.#pageBackoff.failed());
  }

  #keyRefused(code: string, message: string): void {
    this.#refusedAt = this.#clock();
    this.#metrics.feedKeyRefused.set(1);
    this.#log.error(
      { code, problem: message },
      `the control plane refused this gateway's API key; ${this.#whatIsUsed(this.#keyRefusedGraceMs)}`,
    );
    if (this.#state === undefined) return;
    this.#refusal = setTimeout(
      () => {
        if (this.#isRefusalOver())
          this.#log.error(
            { code, problem: message },
            "the control plane still refuses this gateway's API key; refusing tokens of its users",
          );
      },
      Math.min(this.#keyRefusedGraceMs, LONGEST_TIMER_MS),
    ).unref();
  }

  #whatIsUsed(forMs: number): string {
    if (this.#state === undefined) return "no state yet; refusing tokens of its users";
    return `using the last state for at most ${Math.round(forMs / 1000)} s`;
  }

  #isRefusalOver(): boolean {
    return (
      this.#refusedAt !== undefined && Math.abs(this.#clock() - this.#refusedAt) >= this.#keyRefusedGraceMs
    );
  }

  /** Until when the state is used without a new response; Unix ms. */
  #usedUntil(): number {
    const stale = this.#heardAt + this.#maxStaleMs;
    return this.#refusedAt === undefined ? stale : Math.min(stale, this.#refusedAt + this.#keyRefusedGraceMs);
  }

  #sinceHeard(): string {
    return `as of ${new Date(this.#heardAt).toISOString()}`;
  }

  /** Logs once when the state has become too old. */
  #watchAge(): void {
    clearTimeout(this.#staleness);
    const left = Math.min(this.#maxStaleMs, LONGEST_TIMER_MS);
    this.#staleness = setTimeout(() => {
      if (this.current === undefined)
        this.#log.error(
          { age_ms: this.#age() },
          "the control plane's state is too old; refusing tokens of its users",
        );
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

  /** Setting the clock back does not make the state younger. */
  #age(): number {
    return Math.abs(this.#clock() - this.#heardAt);
  }

  async #sleep(ms: number): Promise<void> {
    const signal = AbortSignal.any([this.#closing.signal, this.#waiting.signal]);
    await this.#wait(ms, { signal, ref: false });
  }

  /** A method, because the value may have changed during an `await`. */
  #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }
}

/** The longest delay of setTimeout. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
