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
    "cacheHits" | "cacheMisses" | "cacheEvictions" | "decisions" | "auditRecorded" | "auditDropped"
  >;
  readonly log: JobLog;
  /** Unix ms. */
  readonly clock?: () => number;
}

/** Counters as they stand, by name. */
interface Totals {
  readonly caches: ReadonlyMap<string, Readonly<Record<CacheFigure, number>>>;
  readonly audit: StatisticsReport["audit"];
}
type CacheFigure = "hits" | "misses" | "evictions";

const INTERVAL_MS = 10_000;
const NO_FIGURES = { hits: 0, misses: 0, evictions: 0 };
const NOTHING: Totals = { caches: new Map(), audit: { decided: 0, recorded: 0, dropped: 0 } };

/**
 * Reports to the control plane how caches and audit do: the differences since the last report. A report is sent as it
 * is until it is acknowledged, and what is counted meanwhile is for the next one; so each is counted once.
 */
export class StatisticsReporter {
  readonly #dependencies: StatisticsDependencies;
  readonly #clock: () => number;
  /** Of this run of this process: its counters begin at zero. */
  readonly #instance: string;
  #reported: Totals = NOTHING;
  #reportedAt: number;
  #sequence = 0;
  #pending: StatisticsReport | undefined;
  #reporting: Promise<void> | undefined;
  #failing = false;
  #job: Job | undefined;

  /** @param name - what the instance is called; something that nobody else has is added */
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

  /** Reports now what there is to report. Calls that come while one is under way share it. Never rejects. */
  report(): Promise<void> {
    this.#reporting ??= this.#report().finally(() => {
      this.#reporting = undefined;
    });
    return this.#reporting;
  }

  /** Reports for the last time, as far as the control plane answers. */
  async close(): Promise<void> {
    await this.#job?.close();
    await this.report();
    // that may have been an earlier report, made before the last things were counted
    if (!this.#failing) await this.report();
  }

  async #report(): Promise<void> {
    const { client, log } = this.#dependencies;
    try {
      this.#pending ??= await this.#next();
      if (this.#pending === undefined) return;
      await client.statistics(this.#pending);
      this.#pending = undefined;
      this.#failing = false;
    } catch (error) {
      if (isRefused(error)) this.#pending = undefined;
      if (!this.#failing) log.warn({ err: error }, "statistics cannot be reported to the control plane");
      this.#failing = true;
    }
  }

  /** @returns `undefined` where nothing has happened */
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

/** A report that the control plane refuses for what it says would be refused for ever. */
const REFUSED: ReadonlySet<string> = new Set<GatewayErrorCode>(["VALIDATION_FAILED", "MALFORMED_JSON"]);

function isRefused(error: unknown): boolean {
  return error instanceof ControlPlaneError && REFUSED.has(error.code);
}
