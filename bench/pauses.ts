import { createSnapshot, digestOf } from "../src/decision/policies/snapshot.ts";
import { compilePolicySet } from "../src/policy/index.ts";
import { checkRequest } from "../test/support/check-request.ts";
import { policySetOf } from "./rules.ts";
import { startBenchService, type BenchService } from "./service.ts";
import { median } from "./statistics.ts";
import { POLICIES, worstInputs, type WorstInput } from "./worst-inputs.ts";

/** One row of the table: what one request takes of the event loop at once, ms. */
interface Row {
  readonly input: string;
  readonly bytes: number;
  readonly answer: string;
  readonly least_ms: number;
  readonly median_ms: number;
  readonly longest_ms: number;
}

const ROUNDS = 20;

/**
 * The longest pauses of a worker's event loop over a corpus of worst inputs, the worst first: from the bytes of the
 * CheckRequest to the answer, of which the event loop may do other things in between only where a token is verified. The
 * longest of all rounds is mostly the first, before anything is compiled, or another program's.
 */
export async function benchmarkPauses(): Promise<Row[]> {
  const service = await startBenchService({ "bench.yaml": POLICIES });
  try {
    const rows: Row[] = [];
    for (const input of await worstInputs(service.issuer)) rows.push(await measure(service, input));
    rows.push(...reloads());
    return rows.sort((a, b) => b.median_ms - a.median_ms);
  } finally {
    await service.close();
  }
}

/** What a worker does at once when a policy set comes into force: indexes over its rules. The supervisor has made the digest. */
function reloads(): readonly Row[] {
  return [100, 1_000, 10_000].map((rules) => {
    const { ir } = compilePolicySet([{ name: "bench.yaml", text: policySetOf(rules) }]);
    if (ir === undefined) throw new Error("the benchmark's policies do not compile");
    const digest = digestOf(ir);
    const times = Array.from({ length: ROUNDS }, () => {
      const before = performance.now();
      createSnapshot(ir, { caseSensitive: false, digest });
      return performance.now() - before;
    });
    return row(`reload: a snapshot of ${rules} rules`, JSON.stringify(ir).length, "", times);
  });
}

function row(input: string, bytes: number, answer: string, times: readonly number[]): Row {
  return {
    input,
    bytes,
    answer,
    least_ms: Math.min(...times),
    median_ms: median(times),
    longest_ms: Math.max(...times),
  };
}

async function measure(service: BenchService, input: WorstInput): Promise<Row> {
  const { name, body, headers = [], method = "GET", path } = input;
  const bytes = body === undefined ? undefined : Buffer.from(body, "latin1");
  const request = () =>
    checkRequest({
      method,
      path,
      headers: [
        ...headers,
        ...(bytes
          ? ([
              ["content-length", String(bytes.length)],
              ["x-envoy-auth-partial-body", "false"],
            ] as const)
          : []),
      ],
      ...(bytes && { body: bytes }),
    });
  const times: number[] = [];
  let answer: Uint8Array = new Uint8Array();
  for (let round = 0; round < ROUNDS; round++) {
    // made now: a worker whose requests are old counts as behind, and turns callers without a token away
    const received = request();
    const before = performance.now();
    answer = (await service.check(received, { deadline: Number.POSITIVE_INFINITY })) as Buffer;
    times.push(performance.now() - before);
    await new Promise((resolve) => setImmediate(resolve));
  }
  const code = /"code":"([A-Z_]+)"/.exec(Buffer.from(answer).toString("latin1"))?.[1] ?? "ALLOWED";
  if (code === "SERVICE_UNAVAILABLE") throw new Error(`${name}: the service was not ready`);
  return row(name, request().length, code, times);
}
