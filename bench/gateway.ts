import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../test/support/eventually.ts";
import { startGateway } from "../test/support/gateway.ts";
import { startIssuer } from "../test/support/providers/issuer.ts";
import { effort, NODES } from "./effort.ts";
import { fixedAnswer, proxyTo, startBenchEnvoy } from "./envoy.ts";
import { startIdleServices } from "./idle.ts";
import { CONNECTIONS, load, loadTool, type Load } from "./load.ts";
import { policySetOf, requestPath } from "./rules.ts";

const SECONDS = effort(8);
const RULES = 1000;

/** One row of the table: a load on one set-up. */
interface Row {
  readonly setup: string;
  readonly requests_per_second: number;
  readonly ratio_to_envoy_alone: number;
  readonly p50_ms: number;
  readonly p99_ms: number;
  readonly not_2xx: number;
}

/**
 * Loads an Envoy that only answers, and the whole gateway in front of the same kind of Envoy upstream, in turns.
 * The upstream of both is a second Envoy with a fixed answer, so that no application is measured.
 */
export async function benchmarkGateway(): Promise<Row[]> {
  const tool = await loadTool();
  const directory = await mkdtemp(join(tmpdir(), "gatehouse-bench-"));
  const issuer = await startIssuer();
  const upstream = await startBenchEnvoy(directory, "upstream", fixedAnswer());
  const plain = await startBenchEnvoy(directory, "plain", proxyTo(upstream.url));
  const gateway = await startGateway({
    backend: upstream.url,
    issuer,
    nodes: NODES,
    policies: { "bench.yaml": policySetOf(RULES) },
    config: { policies: { directory: "policies", policy_set: "bench" } },
  });
  const services = await startIdleServices(directory, upstream.url);
  const idle = await startBenchEnvoy(directory, "idle", services.bootstrap);
  try {
    const token = await issuer.token({
      role: "viewer",
      customer_id: "c-1",
      permissions: ["items:read"],
      exp: inAnHour(),
    });
    const path = requestPath(RULES, "c-1");
    await eventually("the idle service", async () => (await fetch(`${idle.url}${path}`)).ok);
    const measure = (url: string, customer = "c-1") =>
      load(tool, `${url}${requestPath(RULES, customer)}`, token, SECONDS);
    await measure(gateway.url); // not counted: the processes compile their hot paths
    await measure(idle.url);
    const alone = await measure(plain.url);
    const allowed = await measure(gateway.url);
    const nothing = await measure(idle.url);
    const denied = await measure(gateway.url, "c-2");
    const again = await measure(plain.url);
    const limit = (alone.rate + again.rate) / 2;
    const row = (setup: string, found: Load): Row => ({
      setup,
      requests_per_second: Math.round(found.rate),
      ratio_to_envoy_alone: found.rate / limit,
      p50_ms: found.p50,
      p99_ms: found.p99,
      not_2xx: found.not2xx,
    });
    process.stdout.write(`load by ${tool}, ${CONNECTIONS} connections, ${SECONDS} s each, ${RULES} rules\n`);
    return [
      row("Envoy alone", alone),
      row("Envoy and a service that looks at nothing", nothing),
      row("gateway: JWT, rules, audit; allowed", allowed),
      row("gateway: the same; denied", denied),
      row("Envoy alone, again", again),
    ];
  } finally {
    await gateway.stop();
    await Promise.all([idle, plain, upstream].map((envoy) => envoy.stop()));
    services.stop();
    await issuer.close();
    await rm(directory, { recursive: true, force: true });
  }
}

function inAnHour(): number {
  return Math.floor(Date.now() / 1000) + 3600;
}
