import { join } from "node:path";
import type { GatewayConfig } from "../../config/index.ts";
import { compileInThread } from "../../decision/policies/compile-thread.ts";
import { rememberCompilations } from "../../decision/policies/remember-compilations.ts";
import { PolicySets } from "../../decision/policies/policy-sets.ts";
import { PolicyStore } from "../../decision/policies/policy-store.ts";
import type { Candidate } from "../../decision/policies/release.ts";
import type { Snapshot } from "../../decision/policies/snapshot.ts";
import { ReleasePublisher, type ReleaseWorkers } from "../../decision/policies/release-publisher.ts";
import { isReleaseReport } from "../../decision/policies/release-messages.ts";
import { caseSensitive, createControlPlaneLink, storeOptions } from "./control-plane-link.ts";
import { controlPlaneSource } from "../../sync/index.ts";
import { createCorsFile } from "./cors-file.ts";
import { provisionsOf } from "./provisions.ts";
import { RolloutFollower } from "./follow-rollout.ts";
import { createCandidatePublishing, type CandidatePublishing } from "./publish-candidate.ts";
import { createRolloutMemory } from "./rollout-memory.ts";
import { createRolloutPublishing, type RolloutPublishing } from "./publish-rollout.ts";
import { noStableSet } from "./no-stable-set.ts";
import type { RolloutChange } from "../../decision/rollout/rollout-controller.ts";
import type { CheckStatus } from "../../telemetry/check-status.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { inTime } from "../../runtime/in-time.ts";

export interface PolicyPublishingDependencies {
  readonly workers: ReleaseWorkers;
  /** Folder for compiled sets; created if missing. */
  readonly runtime: string;
  /** File with the CORS headers of Envoy's own responses. */
  readonly corsFile: string;
  /** Names this gateway in reports. */
  readonly gateway: string;
  /**
   * Called after each change of the rollout.
   *
   * @param rollout - its id at the control plane, if it is from there
   */
  readonly rolloutChanged: (change: RolloutChange, rollout: string | undefined) => void;
  readonly metrics: Metrics;
  readonly log: Log;
}

/** For the log and `/readyz`. */
const NOT_ENFORCED =
  "NO POLICY SET IS ENFORCED (`rollout.stable: none`): every request passes that is not ambiguous and whose token is not invalid";

/** How long the first release waits for its candidate. */
const LONGEST_BEGIN_MS = 10_000;
/** How long a candidate stays in force for a newer version of the gateway's own set to be loaded first. A busy machine needs seconds. */
const LONGEST_REFRESH_MS = 30_000;

/** Loads policies, compiles them, and switches all workers to them together. */
export interface PolicyPublishing {
  /** Loads the policies and keeps watching for changes. Never rejects: a gateway without policies is not ready. */
  start(): Promise<void>;
  /** Handles a worker's message; ignores other messages. */
  take(worker: number, message: unknown): void;
  /** Called when a worker process has exited. */
  workerEnded(worker: number): void;
  /** Follows a changed section `rollout` of the configuration. Rejects if the change cannot be published. */
  applyRollout: RolloutPublishing["apply"];
  /** The sets in force, and what each arm of the rollout has decided. */
  inForce(): {
    readonly stable: Snapshot | undefined;
    readonly candidate: Candidate | undefined;
    readonly decisions: ReturnType<CandidatePublishing["decisions"]>;
  };
  /** The state of the gateway's policy set and, if there is any, of its rollout and of the customers' sets. */
  status(): Readonly<
    Record<"policies", CheckStatus> & Partial<Record<"rollout" | "customer_policy_sets", CheckStatus>>
  >;
  close(): void;
}

/** The supervisor's part of policy loading: one process compiles for all. */
export function createPolicyPublishing(
  config: GatewayConfig,
  { workers, runtime, corsFile, gateway, rolloutChanged, metrics, log }: PolicyPublishingDependencies,
): PolicyPublishing {
  // a caller of the candidate must not get the stable set for a moment because the gateway has started
  const publisher = new ReleasePublisher(
    { directory: join(runtime, "policies"), held: true },
    { workers, log },
  );
  const link = createControlPlaneLink(config, { metrics, log });
  const compile = rememberCompilations(compileInThread);
  const store = new PolicyStore({ ...storeOptions(config, link), compile }, { metrics, log });
  const writeCors = createCorsFile(corsFile, log);
  store.beforeChange(async (main) => {
    await publisher.publish({ main });
    await writeCors(main);
  });
  const { state_file: memoryFile } = config.rollout;
  const candidates = createCandidatePublishing(config, {
    publish: (candidate) => publisher.publish({ candidate }),
    changed(change, id) {
      rolloutChanged(change, id);
      if (change.change === "rolled_back" && id !== undefined) follower?.takenBack(id);
    },
    ...(memoryFile !== undefined && { memory: createRolloutMemory(memoryFile, log) }),
    compile,
    metrics,
    log,
  });
  const open = config.rollout.stable === "none" ? noStableSet(caseSensitive(config)) : undefined;
  const refresh = async () => {
    if (open === undefined) await inTime(store.refresh(), LONGEST_REFRESH_MS, undefined);
  };
  const rollout = createRolloutPublishing(config, { candidates, refresh, log });
  const follower =
    link && config.policies.source === "control_plane"
      ? new RolloutFollower(
          { policySet: config.policies.policy_set, gateway },
          {
            ...{ client: link.client, feed: link.feed, log },
            inForce: () => ({ stable: store.current, candidate: candidates.inForce() }),
            follow: (terms) => rollout.follow(terms),
            refresh,
            progress: (id) => candidates.progress(id),
          },
        )
      : undefined;
  store.afterChange(() => follower?.lookAgain());
  const sets =
    link &&
    new PolicySets(
      {
        source: controlPlaneSource(link.client, link.feed),
        refreshIntervalMs: config.policies.refresh_interval,
        caseSensitive: caseSensitive(config),
        provisions: provisionsOf(config),
        publish: (customers) => publisher.publish({ customers }),
      },
      { metrics, log },
    );
  link?.feed.onChange(() => {
    // if the state is no longer known, the loaded sets stay: nobody gets access through them
    if (link.feed.current !== undefined) sets?.want(link.feed.current.namedPolicySets());
  });
  return {
    async start() {
      await link?.start();
      await sets?.settled();
      if (open === undefined) await store.start();
      else {
        log.error({}, NOT_ENFORCED);
        await publisher.publish({ main: open });
      }
      const begun = rollout.start().then(() => follower?.start());
      await inTime(begun, LONGEST_BEGIN_MS, undefined);
      await publisher.release();
    },
    take(worker, message) {
      if (isReleaseReport(message)) publisher.take(worker, message);
      else candidates.take(message);
    },
    workerEnded(worker) {
      publisher.ended(worker);
    },
    inForce: () => ({
      stable: open ?? store.current,
      candidate: candidates.inForce(),
      decisions: candidates.decisions(),
    }),
    status() {
      const customers = sets?.status();
      const course = candidates.status();
      return {
        policies: open === undefined ? store.status() : { ok: true, detail: NOT_ENFORCED },
        ...(course && { rollout: course }),
        ...(customers && { customer_policy_sets: customers }),
      };
    },
    applyRollout: (section) => rollout.apply(section),
    close() {
      store.close();
      follower?.close();
      candidates.close();
      sets?.close();
      link?.close();
    },
  };
}
