import { digestOf } from "../src/decision/policies/snapshot.ts";
import { decodeCheck } from "../src/extauthz/decode.ts";
import { encodeAllow } from "../src/extauthz/encode.ts";
import { compilePolicySet, createMatcher, evaluate } from "../src/policy/index.ts";
import { canonicalize } from "../src/request/index.ts";
import { checkRequest, USUAL_HEADERS } from "../test/support/check-request.ts";
import { policySetOf, requestPath } from "./rules.ts";
import { startBenchService } from "./service.ts";
import { time } from "./time.ts";

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

/** Times the steps of a check, and the whole check as the gRPC server calls it (token cached, audit to a file). */
export async function benchmarkCheck(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const rules of [10, 1000, 10_000]) rows.push(await measure(rules));
  return rows;
}

async function measure(rules: number): Promise<Row> {
  const text = policySetOf(rules);
  const service = await startBenchService({ "bench.yaml": text });
  try {
    const token = await service.issuer.token({
      role: "viewer",
      customer_id: "c-1",
      permissions: ["items:read"],
    });
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
    if (match.kind !== "rule") throw new Error("no rule matches the benchmark's request");
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
  }
}
