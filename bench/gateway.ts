import { execFile, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { loadGatewayConfig } from "../src/config/index.ts";
import { envoyBootstrap } from "../src/gateway/index.ts";
import { envoyBinary } from "../test/support/envoy.ts";
import { freePort } from "../test/support/free-port.ts";
import { eventually } from "../test/support/eventually.ts";
import { startGateway } from "../test/support/gateway.ts";
import { startIssuer } from "../test/support/issuer.ts";
import { policySetOf, requestPath } from "./rules.ts";

const CONNECTIONS = 64;
const SECONDS = 8;
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
  const envoy = await envoyBinary();
  const directory = await mkdtemp(join(tmpdir(), "gatehouse-bench-"));
  const [upstreamPort, plainPort] = [await freePort(), await freePort()];
  const issuer = await startIssuer();
  const upstream = await runEnvoy(envoy, directory, "upstream", fixedAnswer(upstreamPort));
  const plain = await runEnvoy(envoy, directory, "plain", proxyTo(plainPort, upstreamPort));
  const backend = `http://127.0.0.1:${upstreamPort}`;
  const gateway = await startGateway({
    backend,
    issuer,
    policies: { "bench.yaml": policySetOf(RULES) },
    config: { policies: { directory: "policies", policy_set: "bench" } },
  });
  const idle = await runIdle(envoy, directory, backend);
  try {
    const token = await issuer.token({
      role: "viewer",
      customer_id: "c-1",
      permissions: ["items:read"],
      exp: inAnHour(),
    });
    const path = requestPath(RULES, "c-1");
    await eventually("the plain Envoy", async () => (await fetch(`http://127.0.0.1:${plainPort}${path}`)).ok);
    await load(tool, `${gateway.url}${path}`, token); // not counted: the processes compile their hot paths
    const warmIdle = `http://127.0.0.1:${idle.port}${path}`;
    await load(tool, warmIdle, token);
    const alone = await load(tool, `http://127.0.0.1:${plainPort}${path}`, token);
    const allowed = await load(tool, `${gateway.url}${path}`, token);
    const nothing = await load(tool, warmIdle, token);
    const denied = await load(tool, `${gateway.url}${requestPath(RULES, "c-2")}`, token);
    const again = await load(tool, `http://127.0.0.1:${plainPort}${path}`, token);
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
    for (const child of [upstream, plain, ...idle.children]) child.kill();
    await issuer.close();
    await rm(directory, { recursive: true, force: true });
  }
}

type Tool = "wrk" | "autocannon";
interface Load {
  readonly rate: number;
  readonly p50: number;
  readonly p99: number;
  readonly not2xx: number;
}
const run = promisify(execFile);

/** wrk where it is installed, because it takes less of the two cores; otherwise autocannon, which comes by npm. */
async function loadTool(): Promise<Tool> {
  return run("wrk", ["-v"]).then(
    () => "wrk" as const,
    (error: unknown) =>
      typeof error === "object" && error !== null && "code" in error && error.code === 1
        ? "wrk"
        : "autocannon",
  );
}

async function load(tool: Tool, url: string, token: string): Promise<Load> {
  const header = `Authorization: Bearer ${token}`;
  if (tool === "autocannon") {
    const options = ["-c", String(CONNECTIONS), "-d", String(SECONDS), "-H", header, "-j", url];
    const { stdout } = await run("autocannon", options, { maxBuffer: 1e8 });
    const found = JSON.parse(stdout) as {
      requests: { average: number };
      latency: { p50: number; p99: number };
      non2xx: number;
    };
    return {
      rate: found.requests.average,
      p50: found.latency.p50,
      p99: found.latency.p99,
      not2xx: found.non2xx,
    };
  }
  const options = ["-t", "1", "-c", String(CONNECTIONS), "-d", `${SECONDS}s`, "--latency", "-H", header, url];
  const { stdout } = await run("wrk", options);
  const number = (pattern: RegExp) => Number(pattern.exec(stdout)?.[1] ?? 0);
  return {
    rate: number(/Requests\/sec:\s+([\d.]+)/),
    p50: milliseconds(/\s50%\s+(\S+)/.exec(stdout)?.[1]),
    p99: milliseconds(/\s99%\s+(\S+)/.exec(stdout)?.[1]),
    not2xx: number(/Non-2xx or 3xx responses: (\d+)/),
  };
}

function milliseconds(text = ""): number {
  const [, value, unit] = /^([\d.]+)(us|ms|s)$/.exec(text) ?? [];
  return Number(value) * (unit === "us" ? 0.001 : unit === "s" ? 1000 : 1);
}

/** The gateway's own Envoy configuration in front of two processes that decide nothing. */
async function runIdle(binary: string, directory: string, backend: string) {
  const port = await freePort();
  const loaded = loadGatewayConfig({
    env: {},
    overrides: {
      "gateway.backend": backend,
      "gateway.listen_port": port,
      "identity.issuer": "http://127.0.0.1:1",
      "identity.audience": "none",
    },
  });
  if (!loaded.ok) throw new Error(loaded.errors);
  const sockets = [join(directory, "idle-0.sock"), join(directory, "idle-1.sock")];
  const script = fileURLToPath(new URL("./idle-authz.ts", import.meta.url));
  const services = sockets.map((socket) => spawn(process.execPath, [script, socket], { stdio: "inherit" }));
  const authzEndpoints = sockets.map((unixSocket) => ({ unixSocket }));
  const proxy = await runEnvoy(binary, directory, "idle", envoyBootstrap(loaded.config, { authzEndpoints }));
  await eventually("the idle service", async () => (await fetch(`http://127.0.0.1:${port}/`)).ok);
  return { port, children: [proxy, ...services] };
}

async function runEnvoy(binary: string, directory: string, name: string, bootstrap: object) {
  const file = join(directory, `${name}.json`);
  await writeFile(file, JSON.stringify(bootstrap));
  return spawn(binary, ["-c", file, "--disable-hot-restart", "--log-level", "error"], { stdio: "ignore" });
}

function fixedAnswer(port: number): object {
  const route = { match: { prefix: "/" }, direct_response: { status: 200, body: { inline_string: "{}" } } };
  return { static_resources: { listeners: [listener(port, route)] } };
}

function proxyTo(port: number, upstreamPort: number): object {
  const cluster = {
    name: "upstream",
    type: "STATIC",
    load_assignment: {
      cluster_name: "upstream",
      endpoints: [{ lb_endpoints: [{ endpoint: { address: address(upstreamPort) } }] }],
    },
  };
  return {
    static_resources: {
      listeners: [listener(port, { match: { prefix: "/" }, route: { cluster: "upstream" } })],
      clusters: [cluster],
    },
  };
}

function listener(port: number, route: object): object {
  const router = { "@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router" };
  const manager = {
    "@type":
      "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
    stat_prefix: "bench",
    route_config: { virtual_hosts: [{ name: "all", domains: ["*"], routes: [route] }] },
    http_filters: [{ name: "envoy.filters.http.router", typed_config: router }],
  };
  return { address: address(port), filter_chains: [{ filters: [{ name: "http", typed_config: manager }] }] };
}

function address(port: number): object {
  return { socket_address: { address: "127.0.0.1", port_value: port } };
}

function inAnHour(): number {
  return Math.floor(Date.now() / 1000) + 3600;
}
