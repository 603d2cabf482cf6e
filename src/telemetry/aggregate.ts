import type { Registry } from "prom-client";

/** What `registry.getMetricsAsJSON()` returns, possibly after a round trip through JSON. */
export type MetricsJson = readonly MetricJson[];

export interface MetricJson {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly values: readonly {
    /** Differs from the metric's name for the buckets, sum and count of a histogram. */
    readonly metricName?: string;
    readonly labels: Readonly<Record<string, string | number | undefined>>;
    /** Null: a number that JSON cannot represent. */
    readonly value: number | null;
  }[];
}

export interface WorkerMetrics {
  /** Does not change when the worker is restarted. */
  readonly worker: string;
  readonly metrics: MetricsJson;
}

interface Family {
  readonly help: string;
  readonly type: string;
  readonly series: string[];
}

/**
 * The metrics of all worker processes and of the supervisor in the Prometheus text format. The workers' series are kept
 * apart by a label `worker` instead of being summed: when a worker restarts, only its own series start from zero, as
 * `rate()` expects.
 */
export async function aggregateMetrics(
  parts: readonly WorkerMetrics[],
  own: Registry,
  others: MetricsJson = [],
): Promise<string> {
  const families = new Map<string, Family>();
  // prom-client's types leave `metricName` out
  collect(families, (await own.getMetricsAsJSON()) as unknown as MetricsJson, {});
  collect(families, others, {});
  for (const { worker, metrics } of parts) collect(families, metrics, { worker });
  return [...families].map(([name, family]) => render(name, family)).join("\n");
}

function collect(
  families: Map<string, Family>,
  metrics: MetricsJson,
  labels: Readonly<Record<string, string>>,
): void {
  for (const metric of metrics) {
    const family = families.get(metric.name) ?? { help: metric.help, type: metric.type, series: [] };
    families.set(metric.name, family);
    for (const value of metric.values) {
      const name = value.metricName ?? metric.name;
      family.series.push(
        `${name}${renderLabels({ ...value.labels, ...labels })} ${renderNumber(value.value)}\n`,
      );
    }
  }
}

function render(name: string, { help, type, series }: Family): string {
  return `# HELP ${name} ${escapeText(help)}\n# TYPE ${name} ${type}\n${series.join("")}`;
}

function renderLabels(labels: Readonly<Record<string, string | number | undefined>>): string {
  const pairs = Object.entries(labels)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}="${escapeText(String(value)).replaceAll('"', '\\"')}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function escapeText(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}

function renderNumber(value: number | null): string {
  if (value === Infinity) return "+Inf";
  if (value === -Infinity) return "-Inf";
  return value === null ? "NaN" : String(value);
}
