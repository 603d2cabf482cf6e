import { sanitizeValue } from "../text/index.ts";
import { ascii, fieldsWriter, type Field, type FieldsWriter } from "./serialize-fields.ts";
import type {
  AuditRecord,
  EventRecord,
  OutcomeRecord,
  RolloutRecord,
  ShadowRecord,
} from "../protocol/record.ts";

/** Longest line, including the newline, at levels without trace: the size of an atomic pipe write (PIPE_BUF on Linux). */
export const MAX_LINE = 4_096;
/** Longest line with a trace. */
export const MAX_TRACED_LINE = 65_536;
/** Longest line with inputs and without a trace. */
export const MAX_INPUTS_LINE = 16_384;

/** Size of what surrounds the members. */
const FRAME = "{}\n";

/** In the order of the contract. With names and punctuation, the tight limits add up to less than MAX_LINE. */
const FIELDS = {
  timestamp: { kind: "text", usual: 32, tight: 32 },
  request_id: { kind: "text", usual: 256, tight: 96 },
  user_id: { kind: "text", usual: 512, tight: 192 },
  resource: { kind: "target", usual: 2048, tight: 600 },
  action: { kind: "text", usual: 64, tight: 24 },
  decision: { kind: "text", usual: 8, tight: 8 },
  policy_set: { kind: "text", usual: 256, tight: 96 },
  evaluation_time_ms: { kind: "integer", usual: 24, tight: 24 },
  client_ip: { kind: "text", usual: 64, tight: 48 },
  decision_id: { kind: "text", usual: 64, tight: 40 },
  reason: { kind: "text", usual: 64, tight: 40 },
  rule: { kind: "text", usual: 512, tight: 192 },
  rule_name: { kind: "text", usual: 256, tight: 96 },
  // not shortened in long lines, because dashboards group by it
  rule_resource: { kind: "text", usual: 192, tight: 192 },
  policy_digest: { kind: "text", usual: 80, tight: 72 },
  rollout_arm: { kind: "text", usual: 16, tight: 16 },
  customer_id: { kind: "text", usual: 256, tight: 96 },
  customer_policy_set: { kind: "text", usual: 256, tight: 96 },
  host: { kind: "text", usual: 256, tight: 192 },
  raw_path: { kind: "target", usual: 2048, tight: 440 },
  evaluation_time_us: { kind: "integer", usual: 24, tight: 24 },
  trace_id: { kind: "text", usual: 64, tight: 40 },
  detail: { kind: "text", usual: 1024, tight: 256 },
  unknown: { kind: "texts", usual: 1200, tight: 240, item: 200 },
  accepted_ambiguities: { kind: "texts", usual: 640, tight: 560 },
} as const satisfies Record<Exclude<keyof AuditRecord, "inputs" | "trace">, Field>;

/** The fields of outcomes. */
const OUTCOME_FIELDS = {
  timestamp: FIELDS.timestamp,
  event: { kind: "text", usual: 16, tight: 16 },
  decision_id: FIELDS.decision_id,
  request_id: FIELDS.request_id,
  response_code: { kind: "integer", usual: 24, tight: 24 },
  duration_ms: { kind: "integer", usual: 24, tight: 24 },
  result: { kind: "text", usual: 16, tight: 16 },
  reason: { kind: "text", usual: 256, tight: 96 },
  masked_count: { kind: "integer", usual: 24, tight: 24 },
  masked_paths: { kind: "texts", usual: 3072, tight: 1200, item: 256 },
  documents_dropped: { kind: "integer", usual: 24, tight: 24 },
  response_bytes: { kind: "integer", usual: 24, tight: 24 },
  response_flags: { kind: "text", usual: 64, tight: 32 },
  upstream: { kind: "text", usual: 256, tight: 128 },
  upstream_status: { kind: "integer", usual: 24, tight: 24 },
  upstream_ms: { kind: "integer", usual: 24, tight: 24 },
  sent_delivered: { kind: "integer", usual: 24, tight: 24 },
  sent_dropped: { kind: "integer", usual: 24, tight: 24 },
  received_delivered: { kind: "integer", usual: 24, tight: 24 },
  received_dropped: { kind: "integer", usual: 24, tight: 24 },
  denied_messages: { kind: "denied", usual: 3072, tight: 1200 },
  policy_digests: { kind: "texts", usual: 720, tight: 160 },
  close_code: { kind: "integer", usual: 24, tight: 24 },
  close_reason: { kind: "text", usual: 256, tight: 128 },
  closed_by: { kind: "text", usual: 32, tight: 32 },
  detail: { kind: "text", usual: 256, tight: 128 },
} as const satisfies Record<keyof OutcomeRecord, Field>;

/** The fields of shadow decisions. */
const SHADOW_FIELDS = {
  timestamp: FIELDS.timestamp,
  event: { kind: "text", usual: 16, tight: 16 },
  request_id: FIELDS.request_id,
  user_id: FIELDS.user_id,
  customer_id: FIELDS.customer_id,
  resource: FIELDS.resource,
  action: FIELDS.action,
  difference: { kind: "text", usual: 8, tight: 8 },
  policy_set: FIELDS.policy_set,
  policy_digest: FIELDS.policy_digest,
  decision: FIELDS.decision,
  reason: FIELDS.reason,
  rule: FIELDS.rule,
  candidate_policy_set: FIELDS.policy_set,
  candidate_digest: FIELDS.policy_digest,
  candidate_decision: FIELDS.decision,
  candidate_reason: FIELDS.reason,
  candidate_rule: FIELDS.rule,
  candidate_detail: FIELDS.detail,
} as const satisfies Record<keyof ShadowRecord, Field>;

/** The fields of changes of a rollout. */
const ROLLOUT_FIELDS = {
  timestamp: FIELDS.timestamp,
  event: { kind: "text", usual: 16, tight: 16 },
  decision_id: FIELDS.decision_id,
  change: { kind: "text", usual: 16, tight: 16 },
  rollout_id: { kind: "text", usual: 64, tight: 64 },
  policy_set: FIELDS.policy_set,
  policy_digest: FIELDS.policy_digest,
  mode: { kind: "text", usual: 8, tight: 8 },
  percentage: { kind: "integer", usual: 24, tight: 24 },
  cause: { kind: "text", usual: 32, tight: 32 },
  detail: FIELDS.detail,
} as const satisfies Record<keyof RolloutRecord, Field>;

const writeFields = fieldsWriter(FIELDS);
const writeOutcomeFields = fieldsWriter(OUTCOME_FIELDS);
const writeShadowFields = fieldsWriter(SHADOW_FIELDS);
const writeRolloutFields = fieldsWriter(ROLLOUT_FIELDS);

/**
 * One record as one line of printable ASCII, including the newline: a JSON object with exactly the fields of the contract in
 * their order, every string sanitized, and other characters as `\uXXXX`.
 *
 * @param traced - whether the trace is included; the line is then under {@link MAX_TRACED_LINE}, otherwise {@link MAX_LINE},
 *   or {@link MAX_INPUTS_LINE} if the record carries inputs
 */
export function serializeRecord(record: AuditRecord, traced: boolean): string {
  const limit = traced ? MAX_TRACED_LINE : MAX_LINE;
  let body = writeFields(record, "usual");
  if (body.length + FRAME.length >= (traced ? limit / 2 : limit)) body = writeFields(record, "tight");
  if (record.inputs !== undefined) {
    // as they are: anything changed would be another input
    const inputs = ascii(JSON.stringify(record.inputs));
    const room = MAX_INPUTS_LINE - 1 - FRAME.length - body.length - ',"inputs":'.length;
    body += `,"inputs":${inputs.length <= room ? inputs : '{"left_out":"size"}'}`;
  }
  if (traced && record.trace !== undefined) {
    const trace = ascii(JSON.stringify(sanitizeValue(record.trace)));
    const room = limit - 1 - FRAME.length - body.length - ',"trace":'.length;
    body += `,"trace":${trace.length <= room ? trace : `"left out: ${trace.length} characters"`}`;
  }
  return `{${body}}\n`;
}

/** An outcome or another event as one line under {@link MAX_LINE}, in the same form. */
export function serializeOutcome(record: EventRecord): string {
  const write = writerOf(record);
  const usual = write(record, "usual");
  const fits = usual.length + FRAME.length < MAX_LINE;
  return `{${fits ? usual : write(record, "tight")}}\n`;
}

function writerOf({ event }: EventRecord): FieldsWriter {
  if (event === "shadow_decision") return writeShadowFields;
  return event === "rollout" ? writeRolloutFields : writeOutcomeFields;
}
