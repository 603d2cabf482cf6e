import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDecisionIds, type AuditLog } from "../../../src/audit/index.ts";
import { auditOf } from "../../audit/support/records.ts";
import type { AuditRecord } from "../../../src/protocol/record.ts";
import { DecisionPoint } from "../../../src/decision/point/index.ts";
import { createForgedHeaders } from "../../../src/decision/headers/forged-headers.ts";
import { createIdentityHeaders } from "../../../src/decision/headers/identity-headers.ts";
import { createCheck, type CheckDependencies } from "../../../src/extauthz/check.ts";
import { createMetrics } from "../../../src/telemetry/metrics.ts";
import type { SpanAttributes } from "../../../src/telemetry/tracing.ts";
import { bearer, deciderOf, silentLog, snapshotOf, verifierFor } from "../../decision/support.ts";
import { checkRequest, USUAL_HEADERS } from "../../support/check-request.ts";
import { startIssuer } from "../../support/providers/issuer.ts";
import { CHECK_RESPONSE, decodeWith, loadProtos } from "./protos.ts";

export const envoys = loadProtos("envoys");

const POLICIES = `
policies:
  - { resource: "GET /public", condition: "true" }
  - { resource: "GET /me", condition: exists(user.id) }
  - { resource: "GET /admin", condition: user.role == "admin" }
  - { resource: "GET /kept", condition: "true", audit: required }
  - { resource: "GET /masked", condition: exists(user.id) }
  - { resource: "GET /plan", condition: 'request.headers["x-user-plan"].includes("gold")' }
  - { resource: "GET /agent", condition: 'request.headers["x-user-agent"].includes("grpc-web")' }
response_filters:
  - endpoint: /masked
    filter_rules: [{ field: ssn, condition: user.role != "admin", action: remove }]
websocket_policies:
  - connection: { path: /feed, condition: exists(user.id) }
graphql_policies:
  - { query: me, condition: true }
`;

interface HeaderOption {
  readonly header: { readonly key: string; readonly value: string };
  readonly append_action?: number;
}
export interface Answer {
  readonly status?: { readonly code?: number };
  readonly ok_response?: { readonly headers?: HeaderOption[]; readonly headers_to_remove?: string[] };
  readonly denied_response?: {
    readonly status: { readonly code: number };
    readonly headers?: HeaderOption[];
    readonly body?: string;
  };
  readonly dynamic_metadata?: { readonly fields?: Readonly<Record<string, MetadataValue>> };
}
interface MetadataValue {
  readonly stringValue?: string;
  readonly numberValue?: number;
}

/** What checks are made in: an issuer, its keys, and a folder for audit files. */
export async function openCheckWorld() {
  const directory = await mkdtemp(join(tmpdir(), "gatehouse-check-"));
  const issuer = await startIssuer();
  const verifier = verifierFor(issuer);
  await verifier.start();
  const audits: AuditLog[] = [];
  let serial = 0;

  /** A check over real parts: bytes in, what Envoy makes of the bytes that come out, and the records. */
  function checkOf(change: Partial<CheckDependencies> = {}, enabled = true, policies = POLICIES) {
    const metrics = createMetrics();
    const path = join(directory, `audit-${(serial += 1)}.log`);
    const audit = auditOf({ enabled, destination: "file", path }, { metrics, log: silentLog });
    audits.push(audit);
    const snapshot = snapshotOf(policies);
    const warnings: string[] = [];
    const spans: SpanAttributes[] = [];
    const decide = deciderOf(snapshot, {
      verifier,
      frontProxy: { trustedProxies: ["10.0.0.1"], backends: [] },
    });
    const point = new DecisionPoint({ decide, snapshot: () => snapshot, audit, metrics, log: silentLog });
    const check = createCheck({
      point,
      identityHeaders: createIdentityHeaders([
        ["x-user-id", ["user", "id"]],
        ["x-user-role", ["user", "role"]],
      ]),
      forgedHeaders: createForgedHeaders({
        names: ["x-user-id", "x-user-role"],
        prefixes: ["x-user-"],
        accepted: ["x-user-agent"],
      }),
      denialDetails: "reason",
      cors: () => snapshot.cors,
      tracing: {
        span: () => ({ recording: true, end: (attributes = {}) => void spans.push(attributes) }),
        shutdown: () => Promise.resolve(),
      },
      nextDecisionId: createDecisionIds(),
      place: { file: "/run/state.json", epoch: "e-1" },
      connections: {
        add: () => undefined,
        slotOf: () => undefined,
        withdraw: () => undefined,
        hasLeft: () => false,
      },
      log: { warn: (_context, message) => warnings.push(message), error: () => undefined },
      ...change,
    });
    const ask = async (bytes: Buffer, deadline = Number.POSITIVE_INFINITY): Promise<Answer> =>
      decodeWith(envoys, CHECK_RESPONSE, (await check(bytes, { deadline })) as Buffer);
    const records = async (): Promise<AuditRecord[]> => {
      await audit.close();
      const text = await readFile(path, "utf8").catch(() => "");
      return text
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line) as AuditRecord);
    };
    return { ask, records, warnings, spans, metrics, check };
  }

  const get = async (
    path: string,
    claims?: Record<string, unknown>,
    more: [string, string][] = [],
    plans = "1",
  ) =>
    checkRequest({
      path,
      plans,
      headers: [...USUAL_HEADERS, ...more, ...(claims ? [bearer(await issuer.token(claims))] : [])],
    });

  return {
    issuer,
    checkOf,
    get,
    flush: () => Promise.all(audits.splice(0).map((audit) => audit.close())),
    async close() {
      verifier.close();
      await issuer.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Fails on anything that Envoy would not take for a plain allow. */
export function allowed(answer: Answer) {
  assert.equal(answer.denied_response, undefined);
  assert.equal(answer.status?.code ?? 0, 0);
  const headers = answer.ok_response?.headers ?? [];
  for (const { append_action } of headers) assert.equal(append_action, 2, "OVERWRITE_IF_EXISTS_OR_ADD");
  return {
    set: Object.fromEntries(headers.map(({ header }) => [header.key, header.value])),
    remove: [...(answer.ok_response?.headers_to_remove ?? [])].sort(),
  };
}
/** Fails on anything that Envoy would not take for a denial. */
export function denied(answer: Answer) {
  assert.equal(answer.ok_response, undefined);
  assert.ok(answer.denied_response);
  assert.ok(answer.status?.code === 7 || answer.status?.code === 16, "what Envoy takes for a denial");
  const { status, headers = [], body = "" } = answer.denied_response;
  for (const { append_action } of headers) assert.equal(append_action, 2);
  return {
    status: status.code,
    grpc: answer.status.code,
    headers: Object.fromEntries(headers.map(({ header }) => [header.key, header.value])),
    body,
  };
}
