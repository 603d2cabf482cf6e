import { randomUUID } from "node:crypto";
import type { Counter } from "prom-client";
import type { GatewayErrorCode, StatisticsReport } from "../protocol/index.ts";
import { every, type Job, type JobLog } from "../runtime/every.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { ControlPlaneClient } from "./client.ts";
import { ControlPlaneError } from "./control-plane-error.ts";

export interface StatisticsDependencies {
  readonly client: Pick<ControlPlaneClient, "statistics">;
  readonly metrics: Pick<
    Metrics,
    | "cacheHits"
    | "cacheMisses"
    | "cacheEvictions"
    | "decisions"
    | "auditRecorded"
    | "auditDropped"
    | "statisticsRefused"
  >;
  readonly log: JobLog;
  /** Unix ms. */
  readonly clock?: () => number;
}

/** Current values of counters, by name. */
interface Totals {
  readonly caches: ReadonlyMap<string, Readonly<Record<CacheFigure, number>>>;
  readonly audit: StatisticsReport["audit"];
}
type CacheFigure = "hits" | "misses" | "evictions";

const INTERVAL_MS = 10_000;
const NO_FIGURES = { hits: 0, misses: 0, evictions: 0 };
const NOTHING: Totals = { caches: new Map(), audit: { decided: 0, recorded: 0, dropped: 0 } };

/**
 * Reports cache and audit statistics to the control plane as deltas since the last report. A report is resent unchanged
 * until it is acknowledged; what is counted in the meantime goes into the next one, so everything is counted once.
 */
export class StatisticsReporter {
  readonly #dependencies: StatisticsDependencies;
  readonly #clock: () => number;
  /** Identifies this run of the process, whose counters start at zero. */
  readonly #instance: string;
  #reported: Totals = NOTHING;
  #reportedAt: number;
  #sequence = 0;
  #pending: StatisticsReport | undefined;
  #reporting: Promise<void> | undefined;
  #failing = false;
  /** Whether the last report was refused for its time. */
  #losing = false;
  #job: Job | undefined;

  /** @param name - name of the instance; a unique suffix is added */
  constructor(name: string, dependencies: StatisticsDependencies) {
    this.#instance = `${name}-${randomUUID()}`;
    this.#dependencies = dependencies;
    this.#clock = dependencies.clock ?? Date.now;
    this.#reportedAt = this.#clock();
  }

  start(): void {
    const { log } = this.#dependencies;
    this.#job ??= every(INTERVAL_MS, () => this.report(), { what: "report statistics", log });
  }

  /** Reports now. Calls during a running report share it. Never rejects. */
  report(): Promise<void> {
    this.#reporting ??= this.#report().finally(() => {
      this.#reporting = undefined;
    });
    return this.#reporting;
  }

  /** Sends the last report, if the control plane responds. */
  async close(): Promise<void> {
    await this.#job?.close();
    await this.report();
    // that may have been an earlier report, built before the last counts
    if (!this.#failing) await this.report();
  }

  async #report(): Promise<void> {
    const { client, log, metrics } = this.#dependencies;
    try {
      this.#pending ??= await this.#next();
      if (this.#pending === undefined) return;
      const { accepted, reason = "DUPLICATE" } = await client.statistics(this.#pending);
      this.#pending = undefined;
      this.#failing = false;
      const isLost = !accepted && reason !== "DUPLICATE";
      if (isLost) metrics.statisticsRefused.inc({ reason });
      if (isLost && !this.#losing) log.warn({ reason }, "the control plane does not count the statistics");
      this.#losing = isLost;
    } catch (error) {
      if (isRefused(error)) {
        this.#pending = undefined;
        metrics.statisticsRefused.inc({ reason: "INVALID" });
      }
      if (!this.#failing) log.warn({ err: error }, "could not report statistics to the control plane");
      this.#failing = true;
    }
  }

  /** @returns `undefined` if there is nothing to report */
  async #next(): Promise<StatisticsReport | undefined> {
    const totals = await this.#totals();
    const now = this.#clock();
    const reported = this.#reported;
    const caches = [...totals.caches].map(([name, { hits, misses, evictions }]) => {
      const before = reported.caches.get(name) ?? NO_FIGURES;
      return {
        name,
        hits: hits - before.hits,
        misses: misses - before.misses,
        evictions: evictions - before.evictions,
      };
    });
    const audit = {
      decided: totals.audit.decided - reported.audit.decided,
      recorded: totals.audit.recorded - reported.audit.recorded,
      dropped: totals.audit.dropped - reported.audit.dropped,
    };
    const active = caches.filter(({ hits, misses, evictions }) => hits + misses + evictions > 0);
    if (active.length === 0 && audit.decided + audit.recorded + audit.dropped === 0) return undefined;
    const [from, to] = [this.#reportedAt, now].map((at) => new Date(at).toISOString()) as [string, string];
    this.#reported = totals;
    this.#reportedAt = now;
    this.#sequence += 1;
    return { instance: this.#instance, sequence: this.#sequence, from, to, caches: active, audit };
  }

  async #totals(): Promise<Totals> {
    const { metrics } = this.#dependencies;
    const caches = new Map<string, Record<CacheFigure, number>>();
    const counters = [
      ["hits", metrics.cacheHits],
      ["misses", metrics.cacheMisses],
      ["evictions", metrics.cacheEvictions],
    ] as const;
    for (const [figure, counter] of counters) {
      for (const { labels, value } of (await counter.get()).values) {
        const name = String(labels.cache);
        caches.set(name, { ...(caches.get(name) ?? NO_FIGURES), [figure]: value });
      }
    }
    return {
      caches,
      audit: {
        decided: await sumOf(metrics.decisions),
        recorded: await sumOf(metrics.auditRecorded),
        dropped: await sumOf(metrics.auditDropped),
      },
    };
  }
}

async function sumOf<T extends string>(counter: Counter<T>): Promise<number> {
  return (await counter.get()).values.reduce((sum, { value }) => sum + value, 0);
}

/** A report that is rejected because of its content would be rejected forever. */
const REFUSED: ReadonlySet<string> = new Set<GatewayErrorCode>(["VALIDATION_FAILED", "MALFORMED_JSON"]);

function isRefused(error: unknown): boolean {
  return error instanceof ControlPlaneError && REFUSED.has(error.code);
}
