import { isDeepStrictEqual } from "node:util";
import { readRecord } from "../../../src/control/analytics/records/read-record.ts";
import { accessLogLines } from "../../../src/gateway/access-log-lines.ts";
import { observeCallsOf } from "../../../src/processes/control-plane/observe-calls.ts";
import { WorkerReadiness } from "../../../src/processes/gateway/worker-readiness.ts";
import type { CheckStatus } from "../../../src/telemetry/check-status.ts";
import type { LineFile } from "../../../src/telemetry/line-file.ts";
import { readGatewayConfig } from "../../deploy/support/read-config.ts";
import { placeOf, type Block } from "./blocks.ts";

type Members = Readonly<Record<string, unknown>>;

/** What a page shows of a record may be an excerpt. */
const REST_OF_RECORD: Members = {
  ...{
    timestamp: "2026-01-01T00:00:00.000Z",
    decision_id: "dec_01jzq0v6h3e8kr5f9v1m2c3d4e",
    request_id: "r",
    user_id: "",
  },
  ...{
    resource: "/",
    action: "GET",
    policy_set: "default@v1",
    client_ip: "192.0.2.1",
    evaluation_time_us: 1,
    reason: "CONDITION_TRUE",
  },
};

/** @returns what is wrong with a block of JSON that shows something of ours; `undefined` if nothing here has that shape */
async function problemOf(value: Members): Promise<string | undefined | null> {
  if ("event" in value || ("decision" in value && "policy_set" in value)) {
    const read = readRecord({ ...REST_OF_RECORD, ...value });
    return typeof read === "string" ? read : undefined;
  }
  if ("duration_ms" in value && "peer" in value) return unknownMembers(value, await membersOfAccessLog());
  if ("duration_ms" in value && "operation" in value) return unknownMembers(value, membersOfApiLog());
  if ("ready" in value && "checks" in value) return problemOfReadiness(value);
  return null;
}

/** The supervisor's view of workers that all report what is shown. */
function problemOfReadiness({ ready, checks }: Members): string | undefined {
  const { workers, envoy, ...ofWorkers } = checks as Readonly<Record<string, CheckStatus>>;
  const readiness = new WorkerReadiness(2, () => undefined);
  for (const worker of [0, 1]) readiness.take(worker, { type: "readiness", checks: ofWorkers });
  const expected = { ...readiness.checks(), ...(envoy !== undefined && { envoy }) };
  if (!isDeepStrictEqual(expected, { ...ofWorkers, workers, envoy }))
    return `not ${JSON.stringify(expected)}`;
  return ready === (readiness.ready > 0 && envoy?.ok !== false)
    ? undefined
    : "`ready` does not follow from the checks";
}

function unknownMembers(value: Members, known: readonly string[]): string | undefined {
  const unknown = Object.keys(value).filter((name) => !known.includes(name));
  return unknown.length > 0 ? `no line has ${unknown.join(", ")}` : undefined;
}

/** The members of the lines that Envoy writes. */
async function membersOfAccessLog(): Promise<readonly string[]> {
  const config = await readGatewayConfig(
    "gateway: { backend: http://127.0.0.1:3000, access_log: access.log }\nidentity: { issuer: https://login.example.com, audience: a }\n",
  );
  return accessLogLines(config).flatMap((line) => membersBelow(line, "json_format"));
}

function membersBelow(value: unknown, name: string): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    key === name ? Object.keys(member as object) : membersBelow(member, name),
  );
}

/** The members of a line that the control plane writes of a call which has everything. */
function membersOfApiLog(): readonly string[] {
  const written: string[] = [];
  const accessLog: LineFile = { write: (line) => void written.push(line), close: () => Promise.resolve() };
  const traceparent = `00-${"1".repeat(32)}-${"2".repeat(16)}-01`;
  const span = () => ({ recording: false, traceparent, end: () => undefined });
  const tracing = { span, shutdown: () => Promise.resolve() };
  observeCallsOf("production", { tracing, accessLog })({ traceparent })({
    ...{
      requestId: "r",
      startedAt: 0,
      durationMs: 1,
      method: "GET",
      operation: "readCustomer",
      path: "/v1/customers/x",
    },
    ...{ protocol: "HTTP/1.1", status: 404, code: "USER_NOT_FOUND", bytes: 1, clientIp: "192.0.2.1" },
    caller: { kind: "api_key", id: "key_1", customerId: "cus_1" },
  });
  return Object.keys(JSON.parse(written[0] ?? "{}") as object);
}

/** Compares a block with what the programs write. @returns what is wrong with it */
export async function jsonProblems(block: Block): Promise<readonly string[]> {
  const place = placeOf(block);
  let value: unknown;
  try {
    value = JSON.parse(block.text);
  } catch (error) {
    return [`${place}: ${String(error)}`];
  }
  const problem = typeof value === "object" && value !== null ? await problemOf(value as Members) : null;
  if (problem === undefined) return [];
  return [`${place}: ${problem ?? "is nothing that the programs are known to write"}`];
}
