import { isDeepStrictEqual } from "node:util";
import type { Candidate } from "../../decision/policies/release.ts";
import type { Snapshot } from "../../decision/policies/snapshot.ts";
import type { RolloutSettings } from "../../decision/rollout/rollout-controller.ts";
import type { RolloutReport, RolloutTermsData } from "../../protocol/index.ts";
import { every, type Job, type JobLog } from "../../runtime/every.ts";
import { versionSource, type ControlPlaneClient, type StateFeed } from "../../sync/index.ts";
import type { CandidatePublishing, CandidateTerms } from "./publish-candidate.ts";

export interface RolloutFollowerOptions {
  /** The gateway's own set. */
  readonly policySet: string;
  /** As in registrations. */
  readonly gateway: string;
}

export interface RolloutFollowerDependencies {
  readonly client: Pick<ControlPlaneClient, "policySetVersion" | "rolloutReport">;
  readonly feed: Pick<StateFeed, "current" | "onChange">;
  /** The gateway's own set in force, and the candidate. */
  readonly inForce: () => {
    readonly stable: Pick<Snapshot, "label"> | undefined;
    readonly candidate: Candidate | undefined;
  };
  /** Follows other terms; `undefined` ends the rollout. Rejects if they cannot be published. */
  readonly follow: (terms: CandidateTerms | undefined) => Promise<void>;
  /** Puts the newest version of the gateway's own set in force, if that does not take long. */
  readonly refresh: () => Promise<void>;
  readonly progress: CandidatePublishing["progress"];
  readonly log: JobLog;
}

/** The feed reports changes at once; this is for what failed. */
const LOOK_MS = 5_000;
const REPORT_MS = 1_000;

/**
 * Follows the rollout of the gateway's set at the control plane, and reports what comes of it. The control plane alone goes
 * up, promotes and decides by the counts of all gateways. This gateway's own guard can only take the candidate back, which
 * it also does while the control plane is unavailable.
 */
export class RolloutFollower {
  readonly #options: RolloutFollowerOptions;
  readonly #dependencies: RolloutFollowerDependencies;
  #following: RolloutTermsData | undefined;
  /** Rollouts whose candidate was taken back here. They are never tried again, whatever their terms become. */
  readonly #abandoned = new Set<string>();
  #looking: Job | undefined;
  #reporting: Job | undefined;
  /** Monotonic; ms. */
  #reportAt = 0;

  constructor(options: RolloutFollowerOptions, dependencies: RolloutFollowerDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  /** Never rejects. */
  async start(): Promise<void> {
    const { feed, log } = this.#dependencies;
    this.#looking ??= every(LOOK_MS, () => this.#look(), { what: "follow the rollout", log, level: "error" });
    this.#reporting ??= every(REPORT_MS, () => this.#report(), { what: "report about the rollout", log });
    feed.onChange(({ complete, policySets }) => {
      if (complete || policySets.includes(this.#options.policySet)) this.lookAgain();
    });
    await this.#looking.run();
  }

  /** The gateway's own set has changed. */
  lookAgain(): void {
    void this.#looking?.run();
  }

  /** The gateway's guard has taken the candidate of a rollout back. */
  takenBack(rollout: string): void {
    this.#abandoned.add(rollout);
    this.#reportAt = 0;
    void this.#reporting?.run();
  }

  close(): void {
    void this.#looking?.close();
    void this.#reporting?.close();
  }

  async #look(): Promise<void> {
    const { feed, follow, inForce, refresh } = this.#dependencies;
    const { current } = feed;
    // what is not known does not end a rollout
    if (current === undefined) return;
    const { policySet: name } = this.#options;
    const active = current.policySet(name);
    const wanted = active?.rollout;
    if (wanted !== undefined && wanted.id === this.#following?.id) {
      if (this.#abandoned.has(wanted.id)) return;
      await follow(this.#termsOf(wanted));
      this.#following = wanted;
      return;
    }
    const expected = `${name}@${active?.version ?? ""}`;
    const isCurrent = () => inForce().stable?.label === expected;
    if (this.#following !== undefined) {
      // until the gateway's own set is the active version, ending the rollout would bring back the version before
      if (!isCurrent()) {
        // promoted
        if (inForce().candidate?.set.label === expected) return;
        // promoted and replaced, or aborted, which must not wait for long
        await refresh();
      }
      await follow(undefined);
      this.#following = undefined;
    }
    // a candidate is compared with the version that was active when it began
    if (wanted === undefined || !isCurrent() || this.#abandoned.has(wanted.id)) return;
    await follow(this.#termsOf(wanted));
    this.#following = wanted;
    this.#reportAt = 0;
  }

  #termsOf(rollout: RolloutTermsData): CandidateTerms {
    const { client, feed } = this.#dependencies;
    const { id, version } = rollout;
    return {
      ...{ key: id, rollout: id, settings: settingsOf(rollout) },
      source: versionSource(client, version),
      // what its guard has taken back may do harm whatever the terms are
      retry: false,
      // loading may take long, and what was aborted meanwhile must not be in force for a moment
      isWanted: () =>
        feed.current === undefined ||
        isDeepStrictEqual(feed.current.policySet(this.#options.policySet)?.rollout, rollout),
    };
  }

  async #report(): Promise<void> {
    const rollout = this.#following;
    if (rollout === undefined || performance.now() < this.#reportAt) return;
    const { client } = this.#dependencies;
    const progress = this.#dependencies.progress(rollout.id);
    // a candidate in a folder has precedence: what it does says nothing about this one
    if (progress === undefined) return;
    // also if it fails
    this.#reportAt = performance.now() + LOOK_MS;
    const report: RolloutReport = {
      ...{ gateway: this.#options.gateway, rollout: rollout.id, revision: rollout.revision },
      ...progress,
    };
    const { report_after_ms: after } = await client.rolloutReport(report);
    this.#reportAt = performance.now() + after;
  }
}

function settingsOf({ mode, percentage, sticky_by, guard }: RolloutTermsData): RolloutSettings {
  return {
    ...{ mode, percentage, stickyBy: sticky_by },
    // the control plane goes up
    ...{ steps: [], stepPauseMs: 0 },
    ...(guard && {
      guard: {
        windowMs: guard.window_ms,
        minRequests: guard.min_requests,
        denialIncrease: guard.denial_increase,
        errorIncrease: guard.error_increase,
        slowdown: guard.slowdown,
        ignoredCallers: guard.ignored_callers,
      },
    }),
  };
}
