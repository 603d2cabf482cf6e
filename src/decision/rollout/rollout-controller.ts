import type { Candidate, StickyKey } from "../policies/release.ts";
import type { Snapshot } from "../policies/snapshot.ts";
import type { CheckStatus } from "../../telemetry/check-status.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { addSamples, NO_DECISIONS, type ArmSamples } from "./arm-sample.ts";
import type { ArmCountsMessage } from "./arm-counter.ts";
import {
  compareArms,
  GUARD_CAUSES,
  type Comparison,
  type GuardCause,
  type GuardLimits,
} from "./compare-arms.ts";

/** How candidates are used. */
export interface RolloutSettings {
  readonly mode: "shadow" | "enforce";
  /** Without effect in shadow mode, and with steps. */
  readonly percentage: number;
  readonly stickyBy: StickyKey;
  /** Percentages through which a candidate goes up; empty: it stays at `percentage`. */
  readonly steps: readonly number[];
  /** Time at each step; ms. */
  readonly stepPauseMs: number;
  /** Absent: the arms are not compared. */
  readonly guard?: GuardLimits & { readonly windowMs: number };
}

/** A change of a rollout, for logs and audit. */
export interface RolloutChange {
  readonly change: "started" | "changed" | "rolled_back" | "stopped";
  readonly set: Snapshot;
  readonly mode: "shadow" | "enforce";
  /** After the change. */
  readonly percentage: number;
  /** Why it was rolled back. */
  readonly cause?: GuardCause;
  readonly detail?: string;
}

/** A candidate that the guard has taken back. */
export interface TakenBack {
  readonly digest: string;
  readonly cause: GuardCause;
  readonly detail: string;
}

/** How far a rollout is: what a restart must not forget. */
export interface RolloutState {
  /** Of the candidate. */
  readonly digest: string;
  readonly step: number;
  readonly takenBack?: TakenBack;
}

export interface RolloutDependencies {
  /** Puts a candidate in force on all workers at once, or takes it back (null). */
  readonly publish: (candidate: Candidate | null) => Promise<void>;
  /** Called after each change. */
  readonly changed: (change: RolloutChange) => void;
  /**
   * Called before a change of {@link RolloutController.state} reaches the workers, so that what is killed in between does not
   * take their callers back.
   */
  readonly remember?: () => void;
  readonly metrics: Pick<Metrics, "rolloutPercentage" | "rolloutRollbacks" | "rolloutGuard">;
  readonly log: {
    info(fields: object, message: string): void;
    error(fields: object, message: string): void;
  };
  /** Monotonic; ms. */
  readonly clock?: () => number;
}

interface Counted {
  readonly at: number;
  readonly samples: ArmSamples;
}

/** A candidate must no longer be in force. */
interface Withdrawal {
  readonly change: "rolled_back" | "stopped";
  readonly cause?: GuardCause;
  readonly detail?: string;
}

const NOTHING: ArmSamples = { stable: NO_DECISIONS, candidate: NO_DECISIONS };
/** How long counts are kept if nothing is compared. */
const USUAL_WINDOW_MS = 60_000;
/** What is counted within one of these is kept, and forgotten, together. */
const PARTS_OF_WINDOW = 60;

/**
 * The course of a rollout: which candidate is in force, and for which part of the callers. It goes up step by step, and
 * takes a candidate back that does worse than the stable set. A candidate that was taken back stays so until its
 * content or the settings change.
 */
export class RolloutController {
  readonly #dependencies: RolloutDependencies;
  readonly #clock: () => number;
  #settings: RolloutSettings;
  /** The newest candidate. */
  #set: Snapshot | undefined;
  /** As published. */
  #inForce: Candidate | undefined;
  #step = 0;
  /** When the percentage in force took effect. */
  #since = 0;
  #counts: Counted[] = [];
  /** Of the candidate, whatever its percentage was. */
  #totals = NOTHING;
  #takenBack: TakenBack | undefined;
  /** Could not be published yet. */
  #withdrawal: Withdrawal | undefined;
  /** Changes are published one after the other. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(settings: RolloutSettings, dependencies: RolloutDependencies) {
    this.#settings = settings;
    this.#dependencies = dependencies;
    this.#clock = dependencies.clock ?? (() => performance.now());
    for (const cause of GUARD_CAUSES) dependencies.metrics.rolloutRollbacks.inc({ cause }, 0);
  }

  /** The candidate in force. */
  get inForce(): Candidate | undefined {
    return this.#inForce;
  }

  /** The candidate that the guard has taken back, until another one is offered, or the settings change. */
  get takenBack(): TakenBack | undefined {
    return this.#takenBack;
  }

  /** Decisions by arm within the guard's window, since the percentage in force took effect. */
  get window(): ArmSamples {
    this.#forgetOld();
    return this.#counts.reduce((sum, { samples }) => addArms(sum, samples), NOTHING);
  }

  /** Decisions by arm since the candidate was put in force. */
  get totals(): ArmSamples {
    return this.#totals;
  }

  /** `undefined` while there is no candidate. */
  get state(): RolloutState | undefined {
    if (this.#set === undefined) return undefined;
    const { digest } = this.#set;
    const takenBack = this.#takenBack;
    return { digest, step: this.#step, ...(takenBack?.digest === digest && { takenBack }) };
  }

  /**
   * Puts a new candidate in force, at the first step. Rejects if the workers cannot load it; the one before stays in
   * force then.
   *
   * @param known - where the rollout of this candidate was before a restart
   */
  offer(set: Snapshot, known?: Omit<RolloutState, "digest">): Promise<void> {
    return this.#inTurn(async () => {
      const { digest } = set;
      if (this.#takenBack?.digest === digest) return;
      if (this.#set === undefined && known?.takenBack !== undefined) {
        this.#decide({ set, step: 0, takenBack: known.takenBack });
        return;
      }
      const first = this.#set === undefined ? Math.min(known?.step ?? 0, this.#lastStep()) : 0;
      await this.#put(set, this.#set?.digest === digest ? this.#step : first);
    });
  }

  /**
   * Changes the settings. Rejects if the change cannot be published.
   *
   * @param options.retry - a candidate that was taken back gets another try. Default: true
   */
  apply(settings: RolloutSettings, { retry = true }: { readonly retry?: boolean } = {}): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#takenBack !== undefined && !retry) {
        this.#settings = settings;
        return;
      }
      const sameSteps =
        settings.mode === this.#settings.mode && String(settings.steps) === String(this.#settings.steps);
      const before = this.#settings;
      this.#settings = settings;
      try {
        if (this.#set !== undefined) await this.#put(this.#set, sameSteps ? this.#step : 0);
      } catch (error) {
        this.#settings = before;
        throw error;
      }
    });
  }

  /** Ends the rollout: there is no candidate any more. Rejects if that cannot be published; {@link check} tries again. */
  stop(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#set !== undefined) this.#decide({ set: undefined, step: 0, takenBack: undefined });
      // what the guard has decided before is not forgotten
      await this.#withdraw(this.#withdrawal ?? { change: "stopped" });
    });
  }

  /** Takes the counts of a worker. */
  take({ candidate, samples }: ArmCountsMessage): void {
    if (candidate !== this.#inForce?.set.digest) return;
    this.#forgetOld();
    const now = this.#clock();
    const last = this.#counts.at(-1);
    // an hour of every worker's seconds would take longer to add up than a second
    if (last !== undefined && now - last.at < this.#windowMs / PARTS_OF_WINDOW)
      this.#counts[this.#counts.length - 1] = { at: last.at, samples: addArms(last.samples, samples) };
    else this.#counts.push({ at: now, samples });
    this.#totals = addArms(this.#totals, samples);
  }

  /** Compares the arms, and goes up a step or takes the candidate back. Call it every second. Rejects if that fails. */
  check(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#withdrawal !== undefined) {
        await this.#withdraw(this.#withdrawal);
        return;
      }
      if (this.#inForce?.mode !== "enforce") return;
      const { guard, steps, stepPauseMs } = this.#settings;
      const compared: Comparison = guard === undefined ? { outcome: "ok" } : compareArms(this.window, guard);
      const { rolloutGuard } = this.#dependencies.metrics;
      rolloutGuard.reset();
      if (guard !== undefined) rolloutGuard.set({ outcome: compared.outcome }, 1);
      if (compared.outcome === "worse") await this.#takeBack(this.#inForce.set, compared);
      else if (compared.outcome === "ok" && this.#step + 1 < steps.length)
        if (this.#clock() - this.#since >= stepPauseMs) await this.#put(this.#inForce.set, this.#step + 1);
    });
  }

  /** Describes the rollout for `/readyz`; `undefined` if there is none. */
  status(): CheckStatus | undefined {
    if (this.#withdrawal !== undefined && this.#inForce !== undefined)
      return { ok: true, detail: `${this.#inForce.set.label} could not be taken back yet: it still decides` };
    if (this.#takenBack !== undefined)
      return { ok: true, detail: `the candidate was taken back: ${this.#takenBack.detail}` };
    if (this.#inForce === undefined) return undefined;
    const { set, mode, percentage, stickyBy } = this.#inForce;
    const detail =
      mode === "shadow"
        ? `${set.label} is evaluated in shadow and decides nothing`
        : `${set.label} decides for ${percentage} % of the callers, by ${stickyBy}`;
    return { ok: true, detail };
  }

  get #windowMs(): number {
    return this.#settings.guard?.windowMs ?? USUAL_WINDOW_MS;
  }

  #lastStep(): number {
    return Math.max(0, this.#settings.steps.length - 1);
  }

  #forgetOld(): void {
    const from = this.#clock() - this.#windowMs;
    this.#counts = this.#counts.filter(({ at }) => at >= from);
  }

  async #put(set: Snapshot, step: number): Promise<void> {
    const { mode, stickyBy, steps } = this.#settings;
    const percentage = mode === "shadow" ? 0 : (steps[step] ?? this.#settings.percentage);
    const before = this.#inForce;
    const candidate: Candidate = { set, mode, percentage, stickyBy };
    const isSamePlace = this.#step === step;
    const decided = { set: this.#set, step: this.#step, takenBack: this.#takenBack };
    this.#decide({ set, step, takenBack: undefined });
    if (before !== undefined && isSame(before, candidate)) {
      if (this.#withdrawal === undefined) {
        // another course that begins with the same percentage
        if (!isSamePlace) this.#since = this.#clock();
        return;
      }
    } else {
      try {
        await this.#dependencies.publish(candidate);
      } catch (error) {
        this.#decide(decided);
        throw error;
      }
    }
    // it was decided, although it could not be published
    if (this.#withdrawal !== undefined) this.#withdrawn(this.#withdrawal);
    const replaced = this.#inForce;
    if (replaced?.set.digest !== set.digest) this.#totals = NOTHING;
    this.#inForce = candidate;
    this.#since = this.#clock();
    this.#counts = [];
    this.#note({ change: replaced === undefined ? "started" : "changed", set, mode, percentage });
  }

  async #takeBack(set: Snapshot, { cause, detail }: Comparison & { outcome: "worse" }): Promise<void> {
    // at once, so that it is not put in force again by a check of its folder, or by a restart
    this.#decide({ set: this.#set, step: 0, takenBack: { digest: set.digest, cause, detail } });
    await this.#withdraw({ change: "rolled_back", cause, detail });
  }

  /** What cannot be published is tried again: nobody would notice that the candidate is still in force. */
  async #withdraw(withdrawal: Withdrawal): Promise<void> {
    if (this.#inForce === undefined) return;
    this.#withdrawal = withdrawal;
    await this.#dependencies.publish(null);
    this.#withdrawn(withdrawal);
  }

  /** The candidate in force has ended: nothing, or another one, is in its place. */
  #withdrawn(withdrawal: Withdrawal): void {
    const before = this.#inForce;
    this.#withdrawal = undefined;
    if (before === undefined) return;
    this.#inForce = undefined;
    this.#counts = [];
    this.#dependencies.metrics.rolloutGuard.reset();
    this.#note({ ...withdrawal, set: before.set, mode: before.mode, percentage: 0 });
    const { cause } = withdrawal;
    if (cause !== undefined) this.#dependencies.metrics.rolloutRollbacks.inc({ cause });
  }

  #decide(state: {
    readonly set: Snapshot | undefined;
    readonly step: number;
    readonly takenBack: TakenBack | undefined;
  }): void {
    this.#set = state.set;
    this.#step = state.step;
    this.#takenBack = state.takenBack;
    this.#dependencies.remember?.();
  }

  #note(change: RolloutChange): void {
    const { metrics, log, changed } = this.#dependencies;
    const { set, mode, percentage, cause, detail } = change;
    metrics.rolloutPercentage.reset();
    if (this.#inForce !== undefined)
      metrics.rolloutPercentage.set({ policy_set: set.label, digest: set.digest, mode }, percentage);
    const fields = { policy_set: set.label, digest: set.digest, mode, percentage };
    if (change.change === "rolled_back")
      log.error(
        { ...fields, cause, detail },
        "the candidate does worse than the stable set and was taken back; change it, or `rollout`, to try again",
      );
    else log.info({ ...fields, change: change.change }, "rollout changed");
    changed(change);
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => undefined);
    return done;
  }
}

function addArms(one: ArmSamples, other: ArmSamples): ArmSamples {
  return {
    stable: addSamples(one.stable, other.stable),
    candidate: addSamples(one.candidate, other.candidate),
  };
}

function isSame(one: Candidate, other: Candidate): boolean {
  return (
    one.set.digest === other.set.digest &&
    one.set.label === other.set.label &&
    one.mode === other.mode &&
    one.percentage === other.percentage &&
    one.stickyBy === other.stickyBy
  );
}
