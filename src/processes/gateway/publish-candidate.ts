import type { GatewayConfig } from "../../config/index.ts";
import type { PolicySource } from "../../decision/policies/policy-source.ts";
import { PolicyStore, type PolicyStoreOptions } from "../../decision/policies/policy-store.ts";
import type { Candidate } from "../../decision/policies/release.ts";
import { isArmCountsMessage } from "../../decision/rollout/arm-counter.ts";
import {
  RolloutController,
  type RolloutChange,
  type RolloutSettings,
} from "../../decision/rollout/rollout-controller.ts";
import { isShadowCountsMessage, ShadowCounter } from "../../decision/shadow/shadow-counter.ts";
import type { RolloutReport } from "../../protocol/index.ts";
import { every, type Job } from "../../runtime/every.ts";
import type { CheckStatus } from "../../telemetry/check-status.ts";
import type { Log } from "../../telemetry/log.ts";
import { createMetrics, type Metrics } from "../../telemetry/metrics.ts";
import { caseSensitive } from "./control-plane-link.ts";
import { provisionsOf } from "./provisions.ts";
import type { RolloutMemory } from "./rollout-memory.ts";

/** A candidate, where it comes from, and for whom it decides. */
export interface CandidateTerms {
  /** Another key is another rollout, even of the same content. */
  readonly key: string;
  /** Its id, if it is a rollout of the control plane. */
  readonly rollout?: string;
  readonly source: PolicySource;
  readonly settings: RolloutSettings;
  /** A candidate that was taken back gets another try when the settings change. */
  readonly retry: boolean;
  /** Whether they still hold, which is asked once the candidate is loaded. Absent: they do. */
  readonly isWanted?: () => boolean;
}

export interface CandidateDependencies {
  /** Puts a candidate in force on all workers at once, or takes it back (null). */
  readonly publish: (candidate: Candidate | null) => Promise<void>;
  /**
   * Called after each change of the rollout.
   *
   * @param rollout - its id, if it is one of the control plane
   */
  readonly changed: (change: RolloutChange, rollout: string | undefined) => void;
  /** Absent: a restart forgets how far the rollout was. */
  readonly memory?: RolloutMemory | undefined;
  /** Default: as in {@link PolicyStoreOptions}. */
  readonly compile?: NonNullable<PolicyStoreOptions["compile"]>;
  readonly metrics: Metrics;
  readonly log: Log;
}

/** What a gateway reports about a rollout. */
export type RolloutProgress = Pick<RolloutReport, "samples" | "totals" | "shadow" | "taken_back">;

/** The supervisor's part of a rollout: loads the candidate, and puts it in force on its terms. */
export interface CandidatePublishing {
  /**
   * Follows other terms; `undefined` ends the rollout. Rejects if they cannot be published: then nothing changes, or the
   * candidate is taken back as soon as possible if it should be.
   */
  follow(terms: CandidateTerms | undefined): Promise<void>;
  /** @returns whether the message was about the rollout */
  take(message: unknown): boolean;
  /** The candidate in force. */
  inForce(): Candidate | undefined;
  /** How much each arm has decided since this candidate is in force, shadow not counted. */
  decisions(): Readonly<Record<"stable" | "candidate", number>>;
  /**
   * What the workers have counted, and whether the guard has taken the candidate back.
   *
   * @param rollout - its id at the control plane
   * @returns `undefined` if another rollout is followed
   */
  progress(rollout: string): RolloutProgress | undefined;
  /** `undefined` if there is no rollout. */
  status(): CheckStatus | undefined;
  close(): void;
}

const CHECK_MS = 1_000;
/** Before there are terms. */
const NOBODY: RolloutSettings = {
  ...{ mode: "shadow", percentage: 0, stickyBy: "user", steps: [], stepPauseMs: 0 },
};
/** Fits into a report. */
const MAX_DETAIL = 500;

export function createCandidatePublishing(
  config: GatewayConfig,
  { publish, changed, memory, compile, metrics, log }: CandidateDependencies,
): CandidatePublishing {
  const controller = new RolloutController(NOBODY, {
    publish,
    changed(change) {
      changed(change, rollout);
    },
    remember() {
      memory?.keep(terms, controller.state);
    },
    metrics,
    log,
  });
  const shadow = new ShadowCounter();
  /** The metrics of policy sets are for the gateway's own. */
  const unseen = createMetrics();
  let terms: CandidateTerms | undefined;
  /** The id of the rollout that is followed, or was last. */
  let rollout: string | undefined;
  let store: PolicyStore | undefined;
  let checking: Job | undefined;
  let turn: Promise<unknown> = Promise.resolve();

  async function watch(next: CandidateTerms | undefined): Promise<void> {
    store?.close();
    store = undefined;
    if (next === undefined) return;
    const opened = new PolicyStore(
      {
        source: next.source,
        policySet: config.policies.policy_set,
        refreshIntervalMs: config.policies.refresh_interval,
        caseSensitive: caseSensitive(config),
        provisions: provisionsOf(config),
        whileAbsent: "there is no candidate",
        whenLoaded: "candidate loaded",
        ...(compile && { compile }),
      },
      { metrics: unseen, log },
    );
    opened.beforeChange(async (set) => {
      // it may have been replaced while it was being read
      if (store !== opened || terms === undefined) return;
      if (terms.isWanted?.() === false) throw new Error("the rollout changed while its candidate was loaded");
      await controller.offer(set, memory?.recall(terms, set.digest));
    });
    store = opened;
    await opened.start();
  }

  async function change(next: CandidateTerms | undefined): Promise<void> {
    const isOther = next?.key !== terms?.key;
    if (isOther) {
      // first, so that another candidate is never in force under the settings of the one before
      await watch(undefined);
      try {
        await controller.stop();
      } finally {
        terms = undefined;
      }
      shadow.clear();
    }
    if (next === undefined) {
      memory?.keep(undefined, undefined);
      return;
    }
    const before = terms;
    [terms, rollout] = [next, next.rollout];
    checking ??= every(CHECK_MS, () => controller.check(), {
      what: "change the rollout",
      log,
      level: "error",
    });
    try {
      await controller.apply(next.settings, { retry: isOther || next.retry });
    } catch (error) {
      terms = before;
      throw error;
    }
    if (isOther) await watch(next);
    // its candidate may not have been loaded because of the former terms
    else if (controller.state === undefined) await store?.refresh();
    else memory?.keep(terms, controller.state);
  }

  return {
    follow(next) {
      const done = turn.then(() => change(next));
      turn = done.catch(() => undefined);
      return done;
    },
    take(message) {
      if (isArmCountsMessage(message)) controller.take(message);
      else if (isShadowCountsMessage(message)) {
        if (message.candidate === controller.inForce?.set.digest) shadow.add(message);
      } else return false;
      return true;
    },
    inForce: () => controller.inForce,
    decisions() {
      const { stable, candidate } = controller.totals;
      return { stable: stable.decisions, candidate: candidate.decisions };
    },
    progress(asked) {
      if (terms?.rollout !== asked) return undefined;
      const { window, totals, takenBack } = controller;
      return {
        samples: window,
        // nothing is compared over the whole time
        totals: {
          stable: { ...totals.stable, heaviest: [] },
          candidate: { ...totals.candidate, heaviest: [] },
        },
        shadow: shadow.candidate === undefined ? null : shadow.counts,
        taken_back: takenBack
          ? { cause: takenBack.cause, detail: takenBack.detail.slice(0, MAX_DETAIL) }
          : null,
      };
    },
    status() {
      const course = controller.status();
      if (store === undefined) return course;
      const loaded = store.status();
      // a candidate that is missing is not a reason to send no requests here: the stable set decides
      if (course === undefined || store.failing) return { ok: true, detail: `candidate: ${loaded.detail}` };
      return course;
    },
    close() {
      store?.close();
      void checking?.close();
    },
  };
}
