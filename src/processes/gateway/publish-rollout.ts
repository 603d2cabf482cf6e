import type { GatewayConfig } from "../../config/index.ts";
import { folderSource } from "../../decision/policies/policy-source.ts";
import { PolicyStore } from "../../decision/policies/policy-store.ts";
import type { Candidate } from "../../decision/policies/release.ts";
import { isArmCountsMessage } from "../../decision/rollout/arm-counter.ts";
import {
  RolloutController,
  type RolloutChange,
  type RolloutSettings,
} from "../../decision/rollout/rollout-controller.ts";
import { every, type Job } from "../../runtime/every.ts";
import type { CheckStatus } from "../../telemetry/check-status.ts";
import type { Log } from "../../telemetry/log.ts";
import { createMetrics, type Metrics } from "../../telemetry/metrics.ts";
import { caseSensitive } from "./control-plane-link.ts";
import { provisionsOf } from "./provisions.ts";

type RolloutSection = GatewayConfig["rollout"];

export interface RolloutPublishingDependencies {
  /** Puts a candidate in force on all workers at once, or takes it back (null). */
  readonly publish: (candidate: Candidate | null) => Promise<void>;
  /** Called after each change of the rollout. */
  readonly changed: (change: RolloutChange) => void;
  readonly metrics: Metrics;
  readonly log: Log;
}

/** The supervisor's part of a rollout that `gateway.yaml` describes. */
export interface RolloutPublishing {
  /** Loads the candidate, if there is one, and watches it. Never rejects: without a candidate, the stable set decides. */
  start(): Promise<void>;
  /** Follows a changed section `rollout`. Never rejects: what cannot be published is logged, and nothing changes. */
  apply(section: RolloutSection): Promise<void>;
  /** @returns whether the message was about the rollout */
  take(message: unknown): boolean;
  /** The candidate in force. */
  inForce(): Candidate | undefined;
  /** `undefined` if there is no rollout. */
  status(): CheckStatus | undefined;
  close(): void;
}

const CHECK_MS = 1_000;

export function createRolloutPublishing(
  config: GatewayConfig,
  { publish, changed, metrics, log }: RolloutPublishingDependencies,
): RolloutPublishing {
  let section = config.rollout;
  const controller = new RolloutController(settingsOf(section), { publish, changed, metrics, log });
  /** The metrics of policy sets are for the gateway's own. */
  const unseen = createMetrics();
  let store: PolicyStore | undefined;
  let checking: Job | undefined;

  async function watch(candidate: string | undefined): Promise<void> {
    store?.close();
    store = undefined;
    if (candidate === undefined) return;
    const opened = new PolicyStore(
      {
        source: folderSource(candidate),
        policySet: config.policies.policy_set,
        refreshIntervalMs: config.policies.refresh_interval,
        caseSensitive: caseSensitive(config),
        provisions: provisionsOf(config),
        whileAbsent: "there is no candidate",
        whenLoaded: "candidate loaded",
      },
      { metrics: unseen, log },
    );
    opened.beforeChange(async (set) => {
      // it may have been replaced while it was being read
      if (store === opened) await controller.offer(set);
    });
    store = opened;
    await opened.start();
  }

  return {
    async start() {
      checking ??= every(CHECK_MS, () => controller.check(), {
        what: "change the rollout",
        log,
        level: "error",
      });
      await watch(section.candidate);
    },
    async apply(next) {
      const before = section;
      section = next;
      try {
        if (next.candidate === undefined) {
          await watch(undefined);
          await controller.stop();
          await controller.apply(settingsOf(next));
        } else {
          // first, so that another candidate is never in force under the settings of the one before
          if (next.candidate !== before.candidate) {
            await watch(undefined);
            await controller.stop();
          }
          await controller.apply(settingsOf(next));
          if (next.candidate !== before.candidate) await watch(next.candidate);
        }
      } catch (error) {
        section = before;
        log.error({ err: error }, "cannot follow the change of `rollout`");
      }
    },
    take(message) {
      if (!isArmCountsMessage(message)) return false;
      controller.take(message);
      return true;
    },
    inForce: () => controller.inForce,
    status() {
      if (store === undefined) return undefined;
      const loaded = store.status();
      const course = controller.status();
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

function settingsOf({
  mode,
  percentage,
  sticky_by,
  steps,
  step_pause,
  guard,
}: RolloutSection): RolloutSettings {
  return {
    ...{ mode, percentage, steps },
    stickyBy: sticky_by,
    stepPauseMs: step_pause,
    ...(guard.enabled && {
      guard: {
        windowMs: guard.window,
        minRequests: guard.min_requests,
        denialIncrease: guard.denial_increase,
        errorIncrease: guard.error_increase,
        slowdown: guard.slowdown,
      },
    }),
  };
}
