import { readFile } from "node:fs/promises";
import { isMainThread, parentPort, workerData, type MessagePort } from "node:worker_threads";
import type { GatewayConfig } from "../../config/index.ts";
import { createDecider, type GivenCaller } from "../../decision/decide/decide.ts";
import { VerdictCache } from "../../decision/decide/verdict-cache.ts";
import { createSnapshot, type Snapshot } from "../../decision/policies/snapshot.ts";
import { compareDecisions } from "../../decision/shadow/compare-decisions.ts";
import type {
  ShadowBatch,
  ShadowCandidate,
  ShadowReady,
  ShadowResults,
} from "../../decision/shadow/shadow-messages.ts";
import type { TokenSources } from "../../identity/index.ts";
import type { PolicySetIR } from "../../policy/index.ts";
import type { ShadowRecord } from "../../protocol/index.ts";
import { every } from "../../runtime/every.ts";
import { lowerPriority } from "../../runtime/lower-priority.ts";
import { createLog } from "../../telemetry/log.ts";
import { createMetrics } from "../../telemetry/metrics.ts";
import { attributeSources } from "./attribute-sources.ts";
import { caseSensitive, createControlPlaneLink } from "./control-plane-link.ts";
import { decisionSettings } from "./decision-settings.ts";

/** What the thread is started with. */
export interface ShadowData {
  readonly config: GatewayConfig;
  /** Where the worker takes tokens from. */
  readonly tokens: TokenSources;
}

/** The module that evaluates candidates in shadow, in a thread of a worker, on {@link ShadowData}. */
export const SHADOW_THREAD = new URL(import.meta.url);

/** Evaluates batches one after the other, with its own attribute sources and cache. */
async function runShadow({ config, tokens }: ShadowData, port: MessagePort): Promise<void> {
  // not before the code is loaded (decision 0062)
  lowerPriority();
  const log = createLog({ level: config.telemetry.log_level, name: "shadow" });
  const metrics = createMetrics();
  const needsLink = Object.values(config.attribute_sources).some(({ type }) => type === "control_plane");
  const link = needsLink ? createControlPlaneLink(config, { metrics, log }) : undefined;
  const { sources, refreshSources } = attributeSources(config, link, { metrics, log });
  await link?.start();
  await refreshSources();
  every(config.policies.refresh_interval, refreshSources, { what: "refresh attribute sources", log });
  const { cache_size: size } = config.policies;
  const cache = new VerdictCache({ size, ttlMs: config.gateway.performance.policy_cache_ttl }, metrics);

  let loaded: Snapshot | undefined;
  const load = async ({ file, digest, label }: ShadowCandidate): Promise<Snapshot> => {
    if (loaded?.digest === digest) return loaded;
    const ir = JSON.parse(await readFile(file, "utf8")) as PolicySetIR;
    loaded = { ...createSnapshot(ir, { caseSensitive: caseSensitive(config), digest }), label };
    return loaded;
  };

  let since = performance.eventLoopUtilization();
  const busyMs = () => performance.eventLoopUtilization(since).active;

  const evaluate = async ({ candidate, tasks }: ShadowBatch): Promise<ShadowResults> => {
    const before = busyMs();
    const main = await load(candidate);
    const loadingMs = busyMs() - before;
    const differences: ShadowRecord[] = [];
    let failed = 0;
    let bodiless = 0;
    for (const task of tasks) {
      const given: GivenCaller = { found: task.found, checked: task.checked };
      const decide = createDecider({
        policies: () => ({ main, customers: new Map() }),
        identify: () => given.found,
        given,
        cache,
        sources,
        ...decisionSettings(config),
        tokens,
      });
      try {
        const decision = await decide(task.access);
        // only the stable set has bodies fetched: what the candidate would do with one is unknown
        if (decision.reason === "BODY_NEEDED") {
          bodiless += 1;
          continue;
        }
        const difference = compareDecisions(task, decision, candidate);
        if (difference !== undefined) differences.push(difference);
      } catch (error) {
        failed += 1;
        if (failed === 1) log.warn({ err: error }, "the candidate cannot be evaluated");
      }
    }
    const same = tasks.length - failed - bodiless - differences.length;
    const results = { same, failed, bodiless, differences, busyMs: busyMs() - loadingMs };
    since = performance.eventLoopUtilization();
    return results;
  };

  port.on("message", (batch: ShadowBatch) => {
    evaluate(batch).then(
      (results) => {
        port.postMessage(results);
      },
      (error: unknown) => {
        since = performance.eventLoopUtilization();
        log.warn({ err: error }, "the candidate cannot be loaded for its evaluation in shadow");
        const { length: failed } = batch.tasks;
        port.postMessage({
          same: 0,
          failed,
          bodiless: 0,
          differences: [],
          busyMs: 0,
        } satisfies ShadowResults);
      },
    );
  });
  port.postMessage({ ready: true } satisfies ShadowReady);
}

if (!isMainThread && parentPort !== null) await runShadow(workerData as ShadowData, parentPort);
