import type { GatewayConfig } from "../config/index.ts";
import type { MetricJson, MetricsJson } from "../telemetry/aggregate.ts";
import { UPSTREAM_METRICS } from "../telemetry/metrics.ts";
import { backendsOf } from "./clusters.ts";
import { askAdmin, type AdminAddress } from "./envoy-admin.ts";

/** Statistics that Envoy collects anyway, so that requests do not become slower. */
const STATS =
  "/stats/prometheus?filter=" +
  encodeURIComponent(
    "^(cluster\\.backend(_[0-9]+)?(_upgrades)?\\.upstream_rq_([1-5]xx|time)|access_logs\\.grpc_access_log\\.logs_dropped)$",
  );
/** How long a scrape waits for Envoy. */
const PATIENCE_MS = 1000;

const CLASSES = ["1", "2", "3", "4", "5"] as const;

/** @returns the applications by the names of their clusters, as configured: `http://127.0.0.1:3000` */
export function upstreamNames(config: GatewayConfig): ReadonlyMap<string, string> {
  return new Map(
    backendsOf(config).flatMap(({ cluster, upgradeCluster, url }) => [
      [cluster, url],
      [upgradeCluster, url],
    ]),
  );
}

/**
 * @returns the applications' response counts, and the log entries that Envoy dropped, from Envoy's own statistics; nothing if
 *   Envoy does not respond. Never rejects.
 */
export async function upstreamMetrics(admin: AdminAddress, config: GatewayConfig): Promise<MetricsJson> {
  const answer = await askAdmin(admin, "GET", STATS, PATIENCE_MS).catch(() => undefined);
  if (answer?.status !== 200) return [];
  return [...readUpstreamStats(answer.body, upstreamNames(config)), readDroppedEntries(answer.body)];
}

/** Reads how many entries of the access log for the service Envoy has dropped. */
export function readDroppedEntries(text: string): MetricJson {
  const value = samplesIn(text)
    .filter(({ name }) => name === "envoy_access_logs_grpc_access_log_logs_dropped")
    .reduce((sum, sample) => sum + sample.value, 0);
  return { ...UPSTREAM_METRICS.dropped, values: [{ labels: {}, value }] };
}

/** Parses Envoy's statistics in the Prometheus format; clusters of one application are summed. */
export function readUpstreamStats(text: string, names: ReadonlyMap<string, string>): MetricsJson {
  const responses = new Series();
  const durations = new Series();
  for (const upstream of new Set(names.values()))
    for (const digit of CLASSES) responses.add({ upstream, class: `${digit}xx` }, 0);
  for (const { name, labels, value } of samplesIn(text)) {
    const upstream = names.get(labels["envoy_cluster_name"] ?? "");
    if (upstream === undefined) continue;
    const part = /^envoy_cluster_upstream_rq_time_(bucket|sum|count)$/.exec(name)?.[1];
    if (name === "envoy_cluster_upstream_rq_xx") {
      responses.add({ upstream, class: `${labels["envoy_response_code_class"] ?? ""}xx` }, value);
    } else if (part === "bucket") {
      durations.add({ upstream, le: inSeconds(labels["le"] ?? "") }, value, part);
    } else if (part !== undefined) {
      durations.add({ upstream }, part === "sum" ? value / 1000 : value, part);
    }
  }
  const { responses: counter, duration } = UPSTREAM_METRICS;
  return [
    { ...counter, values: responses.values(counter.name) },
    { ...duration, values: durations.values(duration.name) },
  ];
}

function inSeconds(milliseconds: string): string {
  return milliseconds === "+Inf" ? milliseconds : String(Number(milliseconds) / 1000);
}

type Labels = Readonly<Record<string, string>>;

/** Values summed by label, in the order of first appearance. */
class Series {
  readonly #entries = new Map<string, { readonly labels: Labels; readonly part?: string; value: number }>();

  add(labels: Labels, value: number, part?: string): void {
    const key = JSON.stringify([part, labels]);
    const entry = this.#entries.get(key);
    if (entry !== undefined) entry.value += value;
    else this.#entries.set(key, { labels, value, ...(part !== undefined && { part }) });
  }

  values(name: string): MetricJson["values"] {
    return [...this.#entries.values()].map(({ labels, part, value }) => ({
      labels,
      value,
      ...(part !== undefined && { metricName: `${name}_${part}` }),
    }));
  }
}

/** The sample lines; labels here contain no escapes. */
function samplesIn(text: string): readonly { name: string; labels: Labels; value: number }[] {
  return text.split("\n").flatMap((line) => {
    const [, name, inner, value] = /^(\w+)\{([^}]*)\} (\S+)$/.exec(line) ?? [];
    if (name === undefined || inner === undefined || !Number.isFinite(Number(value))) return [];
    const labels = Object.fromEntries(
      [...inner.matchAll(/(\w+)="([^"]*)"/g)].map(([, key = "", text = ""]) => [key, text] as const),
    );
    return [{ name, labels, value: Number(value) }];
  });
}
