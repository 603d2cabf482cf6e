import { mkdtemp, mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadGatewayConfig } from "../src/config/index.ts";
import { digestOf } from "../src/decision/snapshot.ts";
import { decodeCheck } from "../src/extauthz/decode.ts";
import { encodeAllow } from "../src/extauthz/encode.ts";
import { compilePolicySet, createMatcher, evaluate } from "../src/policy/index.ts";
import { canonicalize } from "../src/request/index.ts";
import { createService } from "../src/service.ts";
import { createLog } from "../src/telemetry/log.ts";
import { createMetrics } from "../src/telemetry/metrics.ts";
import { checkRequest, USUAL_HEADERS } from "../test/support/check-request.ts";
import { startIssuer } from "../test/support/issuer.ts";
import { policySetOf, requestPath } from "./rules.ts";

/** One row of the table; times in microseconds, the median of several rounds. */
interface Row {
  readonly rules: number;
  readonly compile_ms: number;
  readonly decode: number;
  readonly canonicalize: number;
  readonly match: number;
  readonly evaluate: number;
  readonly encode: number;
  readonly whole_check_allowed: number;
  readonly whole_check_denied: number;
}

/** Times the steps of a check, and the whole of it as the gRPC server calls it (token cached, audit to a file). */
export async function benchmarkCheck(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const rules of [10, 1000, 10_000]) rows.push(await measure(rules));
  return rows;
}

async function measure(rules: number): Promise<Row> {
  const directory = await mkdtemp(join(tmpdir(), "gatehouse-bench-"));
  const issuer = await startIssuer();
  const text = policySetOf(rules);
  await mkdir(join(directory, "policies"));
  await writeFile(join(directory, "policies", "bench.yaml"), text);
  const loaded = loadGatewayConfig({
    env: {},
    overrides: {
      "identity.issuer": issuer.url,
      "identity.audience": issuer.audience,
      "policies.directory": join(directory, "policies"),
      "policies.policy_set": "bench",
      "audit.destination": "file",
      "audit.path": join(directory, "audit.log"),
      "audit.queue_size": 1_000_000,
    },
  });
  if (!loaded.ok) throw new Error(loaded.errors);
  const service = await createService(loaded.config, {
    metrics: createMetrics(),
    log: createLog({ level: "error", name: "bench" }),
  });
  try {
    await service.start();
    const token = await issuer.token({ role: "viewer", customer_id: "c-1", permissions: ["items:read"] });
    const headers = [...USUAL_HEADERS, ["authorization", `Bearer ${token}`]] as const;
    const allowed = checkRequest({ path: requestPath(rules, "c-1"), headers });
    const denied = checkRequest({ path: requestPath(rules, "c-2"), headers });
    const call = { deadline: Number.POSITIVE_INFINITY };
    await service.check(allowed, call);

    const started = performance.now();
    const { ir } = compilePolicySet([{ name: "bench.yaml", text }]);
    if (ir === undefined) throw new Error("the benchmark's policies do not compile");
    const matcher = createMatcher(ir);
    digestOf(ir);
    const compileMs = performance.now() - started;
    const raw = decodeCheck(allowed).request;
    const canonical = canonicalize(raw);
    if (!canonical.ok) throw new Error(canonical.refusal.check);
    const { method, segments } = canonical.request;
    const match = matcher.match(method, segments);
    if (match.kind !== "rule") throw new Error("the benchmark's request meets no rule");
    const attributes = {
      user: { role: "viewer", customer_id: "c-1", permissions: ["items:read"] },
      path: match.params,
    };
    const answer = {
      setHeaders: [
        ["x-user-id", "u-1"],
        ["x-user-role", "viewer"],
        ["x-customer-id", "c-1"],
      ] as const,
      removeHeaders: ["x-user-email", "x-user-department"],
    };
    return {
      rules,
      compile_ms: Math.round(compileMs),
      decode: await time(() => decodeCheck(allowed)),
      canonicalize: await time(() => canonicalize(raw)),
      match: await time(() => matcher.match(method, segments)),
      evaluate: await time(() => evaluate(match.rule.condition.expression, attributes)),
      encode: await time(() => encodeAllow(answer)),
      whole_check_allowed: await time(() => service.check(allowed, call)),
      whole_check_denied: await time(() => service.check(denied, call)),
    };
  } finally {
    await service.close();
    await issuer.close();
    await rm(directory, { recursive: true, force: true });
  }
}

const ROUNDS = 9;
const CALLS = 20_000;

/** Microseconds a call: the median of the rounds after one to warm up; between rounds the event loop runs. */
async function time(call: () => unknown): Promise<number> {
  const rounds: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const started = performance.now();
    for (let index = 0; index < CALLS; index++) {
      const result = call();
      if (result instanceof Promise) await result;
    }
    rounds.push(((performance.now() - started) * 1000) / CALLS);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return rounds.slice(1).sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;
}
