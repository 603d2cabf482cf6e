import { planGraphql } from "../src/decision/decide/plan.ts";
import { createSnapshot } from "../src/decision/policies/snapshot.ts";
import { evaluateGraphql, readJson, readPayload } from "../src/graphql/index.ts";
import { compilePolicySet, type GraphqlPlanIR } from "../src/policy/index.ts";
import { checkRequest, USUAL_HEADERS } from "../test/support/check-request.ts";
import { startLua } from "../test/support/lua.ts";
import { effort } from "./effort.ts";
import { operationWith, policiesFor, SDL, type Shape } from "./operations.ts";
import { startBenchService } from "./service.ts";
import { median } from "./statistics.ts";
import { ROUNDS, timeRound } from "./time.ts";

/** One row of the table; times in microseconds, the median of several rounds. */
interface Row {
  readonly leaves: number;
  readonly sdl: string;
  readonly fragments: string;
  readonly bytes: number;
  readonly judge: number;
  readonly whole_check: number;
  readonly judge_in_lua: number;
}

const SHAPES: readonly Shape[] = [
  { schema: false, fragments: false },
  { schema: false, fragments: true },
  { schema: true, fragments: false },
  { schema: true, fragments: true },
];
const LEAVES = [10, 100, 1000];

/** Calls of a round: the same work in every size. */
const callsFor = (leaves: number) => effort(30_000 / leaves);
/** Rounds in which the processes compile their hot paths. */
const WARM = 3;

/** What it costs to decide about an operation: in the service for HTTP, and in Envoy's LuaJIT for WebSocket. */
export async function benchmarkGraphql(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const shape of SHAPES) rows.push(...(await measure(shape)));
  return rows.sort((a, b) => a.leaves - b.leaves);
}

async function measure(shape: Shape): Promise<Row[]> {
  const files = { "bench.yaml": policiesFor(shape), ...(shape.schema && { "api.graphql": SDL }) };
  const service = await startBenchService(files);
  const lua = await startLua(LUA_DRIVER);
  try {
    const plan = planOf(files);
    const token = await service.issuer.token({ role: "viewer", customer_id: "c-1" });
    const headers = [
      ...USUAL_HEADERS,
      ["authorization", `Bearer ${token}`],
      ["content-type", "application/json"],
    ] as const;
    const rows: Row[] = [];
    for (const leaves of LEAVES) {
      const body = JSON.stringify({ query: operationWith(leaves, shape), variables: { customer: "c-1" } });
      const calls = callsFor(leaves);
      const judge = () => judgeText(plan, body);
      const request = checkRequest({
        method: "POST",
        path: "/graphql",
        headers: [
          ...headers,
          ["content-length", String(Buffer.byteLength(body))],
          ["x-envoy-auth-partial-body", "false"],
        ],
        body: Buffer.from(body),
      });
      const check = () => service.check(request, { deadline: Number.POSITIVE_INFINITY });
      if (judge() !== "allowed" || !isAllowed((await check()) as Buffer))
        throw new Error(`not allowed: ${body}`);
      rows.push({
        leaves,
        sdl: shape.schema ? "yes" : "no",
        fragments: shape.fragments ? "yes" : "no",
        bytes: Buffer.byteLength(body),
        ...(await inTurns({
          judge: () => timeRound(judge, calls),
          whole_check: () => timeRound(check, calls),
          judge_in_lua: async () => Number(await lua.call(JSON.stringify({ plan, body, calls }))),
        })),
      });
    }
    return rows;
  } finally {
    await lua.close();
    await service.close();
  }
}

/** The rules as they are left for a viewer of customer c-1. */
function planOf(files: Readonly<Record<string, string>>): GraphqlPlanIR {
  const { ir } = compilePolicySet(Object.entries(files).map(([name, text]) => ({ name, text })));
  if (ir === undefined) throw new Error("the benchmark's policies do not compile");
  const user = { role: "viewer", customer_id: "c-1" };
  return planGraphql(createSnapshot(ir, { caseSensitive: false }), { user }, []);
}

/** From the text of a payload, as Lua is timed, too. */
function judgeText(plan: GraphqlPlanIR, body: string): string {
  const payloads = [readPayload(readJson(body))];
  const request = { payloads, batch: false, kinds: ["query"], nullable: true } as const;
  return evaluateGraphql(plan, request, { env: {} }).kind;
}

/** A CheckResponse begins with its status, which is empty where it allows (encode.ts). */
function isAllowed([field, length]: Uint8Array): boolean {
  return field === 0x0a && length === 0;
}

/** The median of each measurement's rounds, which take turns, so that whatever else the machine does meets all. */
async function inTurns<Name extends string>(
  measurements: Readonly<Record<Name, () => Promise<number>>>,
): Promise<Record<Name, number>> {
  const names = Object.keys(measurements) as Name[];
  const found = new Map(names.map((name): [Name, number[]] => [name, []]));
  for (let round = -WARM; round < ROUNDS; round++) {
    for (const [name, rounds] of found) {
      const microseconds = await measurements[name]();
      if (round >= 0) rounds.push(microseconds);
    }
  }
  return Object.fromEntries([...found].map(([name, rounds]) => [name, median(rounds)])) as Record<
    Name,
    number
  >;
}

/** One round, timed in Lua: the way there and back does not count, nor does reading the plan. */
const LUA_DRIVER = `
local json = require("gatehouse.json")
local decode = require("gatehouse.graphql_payload").decode
local judge = require("gatehouse.graphql_evaluate").evaluate
function run(input)
  local case = json.plain(input)
  judge(case.plan, decode(case.body))
  local started = os.clock()
  for _ = 1, case.calls do
    local verdict = judge(case.plan, decode(case.body))
    assert(verdict.kind == "allowed", verdict.message)
  end
  return tostring((os.clock() - started) * 1e6 / case.calls)
end
`;
