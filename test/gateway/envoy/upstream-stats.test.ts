import assert from "node:assert/strict";
import {
  readDroppedEntries,
  readUpstreamStats,
  upstreamMetrics,
  upstreamNames,
} from "../../../src/gateway/upstream-stats.ts";
import { send, until } from "../support/client.ts";
import { configWith, startGateway } from "../support/gateway.ts";

const CONFIG = configWith({
  "gateway.backend": "https://a.test",
  "gateway.backends": ["http://b.test:1"],
  "gateway.trusted_proxies": ["10.0.0.0/8"],
});

const STATS = `
# TYPE envoy_cluster_upstream_rq_xx counter
envoy_cluster_upstream_rq_xx{envoy_response_code_class="2",envoy_cluster_name="backend"} 5
envoy_cluster_upstream_rq_xx{envoy_response_code_class="1",envoy_cluster_name="backend_upgrades"} 3
envoy_cluster_upstream_rq_xx{envoy_response_code_class="2",envoy_cluster_name="backend_upgrades"} 2
envoy_cluster_upstream_rq_xx{envoy_response_code_class="5",envoy_cluster_name="backend_1"} 1
envoy_cluster_upstream_rq_xx{envoy_response_code_class="5",envoy_cluster_name="ext_authz"} 99
envoy_cluster_upstream_rq_xx{envoy_response_code_class="5",envoy_cluster_name="backend"} NaN
nonsense
# TYPE envoy_cluster_upstream_rq_time histogram
envoy_cluster_upstream_rq_time_bucket{envoy_cluster_name="backend",le="0.5"} 1
envoy_cluster_upstream_rq_time_bucket{envoy_cluster_name="backend",le="1000"} 4
envoy_cluster_upstream_rq_time_bucket{envoy_cluster_name="backend",le="+Inf"} 5
envoy_cluster_upstream_rq_time_sum{envoy_cluster_name="backend"} 2500
envoy_cluster_upstream_rq_time_count{envoy_cluster_name="backend"} 5
envoy_cluster_upstream_rq_time_bucket{envoy_cluster_name="backend_upgrades",le="0.5"} 1
envoy_cluster_upstream_rq_time_sum{envoy_cluster_name="backend_upgrades"} 500
`;

describe("gateway: statistics of applications", () => {
  it("are added up by application, classes that did not occur included, times in seconds", () => {
    const [responses, duration] = readUpstreamStats(STATS, upstreamNames(CONFIG));
    const of = (upstream: string) =>
      responses?.values.filter(({ labels }) => labels["upstream"] === upstream).map(({ value }) => value);
    assert.deepEqual(of("https://a.test"), [3, 7, 0, 0, 0]);
    assert.deepEqual(of("http://b.test:1"), [0, 0, 0, 0, 1]);
    assert.equal(responses?.values.length, 10, "and of nobody else");
    const upstream = "https://a.test";
    const name = "gatehouse_upstream_duration_seconds";
    assert.deepEqual(duration?.values, [
      { labels: { upstream, le: "0.0005" }, value: 2, metricName: `${name}_bucket` },
      { labels: { upstream, le: "1" }, value: 4, metricName: `${name}_bucket` },
      { labels: { upstream, le: "+Inf" }, value: 5, metricName: `${name}_bucket` },
      { labels: { upstream }, value: 3, metricName: `${name}_sum` },
      { labels: { upstream }, value: 5, metricName: `${name}_count` },
    ]);
  });

  it("come with what the log for the service has lost", () => {
    const dropped = (text: string) => readDroppedEntries(text).values;
    assert.deepEqual(dropped(STATS), [{ labels: {}, value: 0 }]);
    const lines =
      "envoy_access_logs_grpc_access_log_logs_dropped{} 7\nenvoy_access_logs_grpc_access_log_logs_written{} 9\n";
    assert.deepEqual(dropped(lines), [{ labels: {}, value: 7 }]);
  });

  it("are nothing where Envoy does not answer", async () => {
    assert.deepEqual(await upstreamMetrics({ socketPath: "/nowhere/admin.sock" }, CONFIG), []);
  });

  it("come from a real Envoy", async () => {
    const gateway = await startGateway();
    try {
      for (const status of [200, 204, 302, 404, 404]) {
        gateway.upstream.answer = (_request, response) => response.writeHead(status).end();
        await send(gateway.port, "/");
      }
      const read = async () => {
        const [responses, duration] = await upstreamMetrics(gateway.envoy.admin, gateway.config);
        return { classes: responses?.values.map(({ value }) => value), duration };
      };
      assert.deepEqual((await read()).classes, [0, 2, 1, 2, 0]);
      await until(async () => {
        const { duration } = await read();
        return duration?.values.find(({ metricName }) => metricName?.endsWith("_count"))?.value === 5;
      }, "the times of all");
    } finally {
      await gateway.stop();
    }
  });
});
