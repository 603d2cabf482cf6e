import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { eventually } from "../test/support/eventually.ts";
import { startGateway, type RunningGateway } from "../test/support/gateway.ts";
import { startIssuer } from "../test/support/providers/issuer.ts";
import { effort, NODES, quick } from "./effort.ts";
import { fixedAnswer, proxyTo, startBenchEnvoy } from "./envoy.ts";
import { startIdleServices } from "./idle.ts";
import { policySetOf, requestPath } from "./rules.ts";
import { median, percentile } from "./statistics.ts";

const RULES = 10;
/** Loads of a step, of Envoy alone, of workers that read nothing and of the gateway in turns: one says about ten percent either way. */
const ROUNDS = quick ? 1 : 3;
/** Requests of a load per request in flight: few of them are sent while not all are in flight, at the beginning and the end. */
const PER_STREAM = effort(8);
const LEAST_REQUESTS = effort(15_000);
/** Of a load over HTTP/1.1: it takes wrk a second or two to open thousands of connections. */
const SECONDS = effort(10);

/** Requests in flight, as connections times streams. The gateway takes 100 streams per connection. */
const STEPS = [
  [8, 8],
  [16, 16],
  [10, 100],
  [40, 100],
  [100, 100],
] as const;
/** Over HTTP/1.1, one request per connection at a time; Envoy needs two descriptors for each, of the usual 20,000. */
const WRK_STEPS = [64, 1_000, 4_000, 9_000];

/** One row of the table: a number of requests in flight at Envoy alone and at the gateway. Rates and latencies are medians of the rounds. */
interface Row {
  readonly in_flight: string;
  /** Of Envoy alone, answered 200 per second. */
  readonly alone_per_second: number;
  /** Of the same Envoy configuration with workers that permit everything unread, answered 200 per second. */
  readonly unread_per_second: number;
  /** Of the gateway, answered 200 per second. */
  readonly goodput: number;
  readonly ratio: number;
  /** What is left of the most per second of any step over the same version of HTTP. */
  readonly alone_of_peak: number;
  readonly unread_of_peak: number;
  readonly goodput_of_peak: number;
  /** CPU time of Envoy, workers and supervisor per request answered 200, in microseconds. */
  readonly cpu_us: number;
  readonly p50_ms: number;
  readonly p99_ms: number;
  /** In all rounds together, as what follows. */
  readonly answered_200: number;
  readonly answered_5xx: number;
  /** Records of decisions, and those beyond `audit.refusal_rate`, which are only counted. */
  readonly records: number;
  readonly dropped: number;
  /** Recorded ALLOW, without those with a line `not_forwarded`. */
  readonly let_through: number;
  readonly equation: string;
}

type Step = Omit<Row, "alone_of_peak" | "unread_of_peak" | "goodput_of_peak">;

const run = promisify(execFile);

/**
 * Requests more and more at once, from Envoy alone and from the gateway, and compares what clients got with what was recorded.
 * With h2load the number of requests is fixed, so every one is answered: as many records, and as many ALLOW as 200. wrk leaves
 * with one request in flight on each connection, and of those nobody knows.
 *
 * @throws if h2load (nghttp2-client) is not installed; without wrk there are no rows for HTTP/1.1
 */
export async function benchmarkOverload(): Promise<Row[]> {
  await run("h2load", ["--version"]).catch(() => {
    throw new Error("`bench overload` needs h2load (Debian: nghttp2-client)");
  });
  const directory = await mkdtemp(join(tmpdir(), "gatehouse-bench-"));
  const issuer = await startIssuer();
  const upstream = await startBenchEnvoy(directory, "upstream", fixedAnswer());
  const plain = await startBenchEnvoy(directory, "plain", proxyTo(upstream.url));
  const services = await startIdleServices(directory, upstream.url, {
    "gateway.performance.connection_pool_size": MOST_IN_FLIGHT,
  });
  const unread = await startBenchEnvoy(directory, "unread", services.bootstrap);
  const gateway = await startGateway({
    backend: upstream.url,
    issuer,
    nodes: NODES,
    policies: { "bench.yaml": policySetOf(RULES) },
    config: {
      policies: { directory: "policies", policy_set: "bench" },
      authz: { decision_timeout: "500ms" },
      // one file: it is read line by line
      audit: { max_file_size: "100GB" },
      gateway: { performance: { connection_pool_size: MOST_IN_FLIGHT } },
    },
  });
  const path = requestPath(RULES, "c-1");
  const token = await issuer.token({
    role: "viewer",
    customer_id: "c-1",
    permissions: ["items:read"],
    exp: Math.floor(Date.now() / 1000) + 3600,
  });
  const books = new Books(gateway);
  const rows: Step[] = [];
  try {
    const step = async (inFlight: string, load: (url: string) => Promise<Load>) => {
      const rounds: Round[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        const [alone, idle] = [await load(plain.url), await load(unread.url)];
        const before = await cpuSecondsOf(gateway);
        const own = await load(gateway.url);
        const cpu = (await cpuSecondsOf(gateway)) - before;
        rounds.push({ alone, idle, own, cpu, entries: await books.close() });
      }
      rows.push(rowOf(inFlight, rounds));
    };
    // not counted: the processes compile their hot paths
    for (const { url } of [unread, gateway]) await h2load(directory, `${url}${path}`, token, 8, 8);
    await books.close();
    for (const [connections, streams] of STEPS)
      await step(`${connections} x ${streams}, HTTP/2`, (url) =>
        h2load(directory, `${url}${path}`, token, connections, streams),
      );
    if (await isInstalled("wrk"))
      for (const connections of WRK_STEPS)
        await step(`${connections}, HTTP/1.1`, (url) => wrk(`${url}${path}`, token, connections));
    else process.stdout.write("wrk is not installed: no rows for HTTP/1.1\n");
    return [...againstPeak(rows, "HTTP/2"), ...againstPeak(rows, "HTTP/1.1")];
  } finally {
    await gateway.stop();
    services.stop();
    await Promise.all([plain, unread, upstream].map((envoy) => envoy.stop()));
    await issuer.close();
    await rm(directory, { recursive: true, force: true });
  }
}

/** Requests that an application gets at once; none is refused because of it. */
const MOST_IN_FLIGHT = 20_000;

/** What clients got. */
interface Load {
  /** Most that it left unanswered: it stopped at a time, with requests in flight. */
  readonly left: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
}

function againstPeak(steps: readonly Step[], protocol: string): Row[] {
  const own = steps.filter((step) => step.in_flight.endsWith(protocol));
  const peakOf = (key: "alone_per_second" | "unread_per_second" | "goodput") =>
    Math.max(...own.map((step) => step[key]));
  const [alone, unread, goodput] = [
    peakOf("alone_per_second"),
    peakOf("unread_per_second"),
    peakOf("goodput"),
  ];
  return own.map(({ in_flight, alone_per_second, unread_per_second, goodput: found, ratio, ...rest }) => ({
    in_flight,
    alone_per_second,
    unread_per_second,
    goodput: found,
    ratio,
    alone_of_peak: alone_per_second / alone,
    unread_of_peak: unread_per_second / unread,
    goodput_of_peak: found / goodput,
    ...rest,
  }));
}

/** The loads of one step, once. */
interface Round {
  readonly alone: Load;
  /** With workers that permit everything. */
  readonly idle: Load;
  readonly own: Load;
  /** Seconds of CPU time that the gateway used. */
  readonly cpu: number;
  readonly entries: Entries;
}

function rowOf(inFlight: string, rounds: readonly Round[]): Step {
  const middle = (value: (round: Round) => number) => median(rounds.map(value));
  const sum = (value: (round: Round) => number) => rounds.reduce((all, round) => all + value(round), 0);
  return {
    in_flight: inFlight,
    alone_per_second: Math.round(middle(({ alone }) => alone.perSecond)),
    unread_per_second: Math.round(middle(({ idle }) => idle.perSecond)),
    goodput: Math.round(middle(({ own }) => own.perSecond)),
    ratio: middle(({ own, alone }) => own.perSecond / alone.perSecond),
    cpu_us: Math.round(middle(({ own, cpu }) => (cpu * 1e6) / Math.max(1, own.succeeded))),
    p50_ms: middle(({ own }) => own.p50),
    p99_ms: middle(({ own }) => own.p99),
    answered_200: sum(({ own }) => own.succeeded),
    answered_5xx: sum(({ own }) => own.failed),
    records: sum(({ entries }) => entries.records),
    dropped: sum(({ entries }) => entries.dropped),
    let_through: sum(({ entries }) => entries.letThrough),
    equation: rounds.every(holds) ? "holds" : "FAILS",
  };
}

/** Whether there is one record for each request, and ALLOW for those that were let through: no more than were left came on top. */
function holds({ own, entries: { records, distinct, dropped, letThrough } }: Round): boolean {
  const isWithin = (value: number, least: number) => value >= least && value <= least + own.left;
  return (
    distinct === records &&
    isWithin(records + dropped, own.succeeded + own.failed) &&
    isWithin(letThrough, own.succeeded)
  );
}

/** CPU time that a gateway's processes have used so far: fields 14 and 15 of /proc/pid/stat, in hundredths of a second. */
async function cpuSecondsOf(gateway: RunningGateway): Promise<number> {
  const { envoy, workers } = await gateway.children();
  const times = [gateway.process.pid ?? 0, ...envoy, ...workers].map(async (pid) => {
    const stat = await readFile(`/proc/${String(pid)}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) / 100;
  });
  return (await Promise.all(times)).reduce((sum, one) => sum + one, 0);
}

/** A fixed number of requests over HTTP/2, each stream sending the next one as soon as it is answered. */
async function h2load(
  directory: string,
  url: string,
  token: string,
  connections: number,
  streams: number,
): Promise<Load> {
  const log = join(directory, "h2load.log");
  await rm(log, { force: true });
  const sent = Math.max(LEAST_REQUESTS, PER_STREAM * connections * streams);
  const options = ["-c", connections, "-m", streams, "-n", sent, "--log-file", log].map(String);
  const { stdout } = await run("h2load", [...options, "-H", `Authorization: Bearer ${token}`, url], {
    maxBuffer: 1e8,
  });
  const seconds = inSeconds(/finished in ([\d.]+)(us|ms|m|s)/.exec(stdout));
  const latencies: number[] = [];
  let failed = 0;
  for (const line of (await readFile(log, "utf8")).trim().split("\n")) {
    const [, status, microseconds] = line.split("\t");
    if (status === "200") latencies.push(Number(microseconds) / 1000);
    else failed += 1;
  }
  const unanswered = sent - latencies.length - failed;
  if (unanswered !== 0) throw new Error(`h2load reports ${unanswered} of ${sent} requests unanswered`);
  return {
    ...{ left: 0, failed, succeeded: latencies.length },
    perSecond: latencies.length / seconds,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
  };
}

/** Over HTTP/1.1, for some seconds. */
async function wrk(url: string, token: string, connections: number): Promise<Load> {
  const options = [
    "-t",
    "1",
    "-c",
    String(connections),
    "-d",
    `${SECONDS}s`,
    "--timeout",
    "20s",
    "--latency",
  ];
  const { stdout } = await run("wrk", [...options, "-H", `Authorization: Bearer ${token}`, url]);
  const all = Number(/(\d+) requests in/.exec(stdout)?.[1] ?? 0);
  const failed = Number(/Non-2xx or 3xx responses: (\d+)/.exec(stdout)?.[1] ?? 0);
  const seconds = inSeconds(/requests in ([\d.]+)(us|ms|m|s)/.exec(stdout));
  const latency = (share: string) =>
    inSeconds(new RegExp(`\\s${share}%\\s+([\\d.]+)(us|ms|m|s)`).exec(stdout)) * 1000;
  return {
    ...{ left: connections, failed, succeeded: all - failed },
    perSecond: (all - failed) / seconds,
    p50: latency("50"),
    p99: latency("99"),
  };
}

function inSeconds(found: RegExpExecArray | null): number {
  const [, value = "0", unit = "s"] = found ?? [];
  return Number(value) * ({ us: 1e-6, ms: 1e-3, s: 1, m: 60 }[unit] ?? 1);
}

async function isInstalled(tool: string): Promise<boolean> {
  return run(tool, ["-v"]).then(
    () => true,
    (error: unknown) =>
      typeof error === "object" && error !== null && "code" in error && error.code !== "ENOENT",
  );
}

/** What was recorded of one load. */
interface Entries {
  readonly records: number;
  /** The number of request ids in them. */
  readonly distinct: number;
  readonly dropped: number;
  readonly letThrough: number;
}

/** Reads the audit of a gateway load by load. */
class Books {
  readonly #gateway: RunningGateway;
  #lines = 0;
  #dropped = 0;

  constructor(gateway: RunningGateway) {
    this.#gateway = gateway;
  }

  /** Waits until nothing is added any more, and says what was since the last time. */
  async close(): Promise<Entries> {
    let count = -1;
    const lines = await eventually("the last record", async () => {
      const found = await this.#gateway.audit();
      if (found.length === count) return found;
      count = found.length;
      // longer than Envoy collects log entries, and a worker waits for replies
      await new Promise((resolve) => setTimeout(resolve, 2_500));
      return undefined;
    });
    const dropped = await this.#gateway.metric("gatehouse_audit_dropped_total");
    const added = lines.slice(this.#lines);
    const decisions = added.filter((line) => "decision" in line);
    const stopped = new Set(
      added.filter((line) => line["result"] === "not_forwarded").map((line) => line["request_id"]),
    );
    const entries = {
      records: decisions.length,
      distinct: new Set(decisions.map((line) => line["request_id"])).size,
      dropped: dropped - this.#dropped,
      letThrough: decisions.filter((line) => line.decision === "ALLOW" && !stopped.has(line["request_id"]))
        .length,
    };
    this.#lines = lines.length;
    this.#dropped = dropped;
    return entries;
  }
}
