import { redactTarget, sanitize, sanitizeValue } from "./redact.ts";
import type { AuditRecord } from "./types.ts";

/** Longest line, newline included, at levels without trace: what a pipe takes in one piece (PIPE_BUF on Linux). */
export const MAX_LINE = 4_096;
/** Longest line with a trace. */
export const MAX_TRACED_LINE = 65_536;

/** What is around the members. */
const FRAME = "{}\n";

/** How a field is written: what it holds, and its share of the line in characters, usually and when the line is long. */
interface Field {
  readonly kind: "text" | "target" | "integer" | "texts";
  readonly usual: number;
  readonly tight: number;
}

/** In the order of the contract. The tight limits add up, with names and punctuation, to less than MAX_LINE. */
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
  policy_digest: { kind: "text", usual: 80, tight: 72 },
  customer_id: { kind: "text", usual: 256, tight: 96 },
  host: { kind: "text", usual: 256, tight: 192 },
  raw_path: { kind: "target", usual: 2048, tight: 440 },
  evaluation_time_us: { kind: "integer", usual: 24, tight: 24 },
  trace_id: { kind: "text", usual: 64, tight: 40 },
  detail: { kind: "text", usual: 1024, tight: 256 },
  accepted_ambiguities: { kind: "texts", usual: 640, tight: 560 },
} as const satisfies Record<Exclude<keyof AuditRecord, "trace">, Field>;

const COLUMNS = Object.entries(FIELDS).map(([name, field]) => ({
  name: name as keyof typeof FIELDS,
  usual: writerOf(name, field.kind, field.usual),
  tight: writerOf(name, field.kind, field.tight),
}));

/**
 * One record as one line of printable ASCII, newline included: a JSON object with the fields of the contract in their
 * order and no others, every string sanitized (see {@link sanitize}), characters beyond ASCII as `\uXXXX`.
 *
 * @param traced - whether the trace is written; the line is then under {@link MAX_TRACED_LINE}, else {@link MAX_LINE}
 */
export function serializeRecord(record: AuditRecord, traced: boolean): string {
  const limit = traced ? MAX_TRACED_LINE : MAX_LINE;
  let body = serializeFields(record, "usual");
  if (body.length + FRAME.length >= (traced ? limit / 2 : limit)) body = serializeFields(record, "tight");
  if (traced && record.trace !== undefined) {
    const trace = ascii(JSON.stringify(sanitizeValue(record.trace)));
    const room = limit - 1 - FRAME.length - body.length - ',"trace":'.length;
    body += `,"trace":${trace.length <= room ? trace : `"left out: ${trace.length} characters"`}`;
  }
  return `{${body}}\n`;
}

function serializeFields(record: AuditRecord, share: "usual" | "tight"): string {
  const members: string[] = [];
  for (const column of COLUMNS) {
    const value: unknown = record[column.name];
    if (value === undefined) continue;
    members.push(column[share](value));
  }
  // joined rather than added up: one flat string, where a rope would hold on to every piece
  return members.join(",");
}

/** Sets, rules, hosts and verdicts repeat from record to record: what was written last is not looked at again. */
function writerOf(name: string, kind: Field["kind"], limit: number): (value: unknown) => string {
  let last: unknown;
  let member = "";
  return (value) => {
    if (value !== last || member === "" || typeof value === "object") {
      member = `"${name}":${serializeField(value, kind, limit)}`;
      last = value;
    }
    return member;
  };
}

function serializeField(value: unknown, kind: Field["kind"], limit: number): string {
  if (value === null) return "null";
  switch (kind) {
    case "integer":
      return serializeInteger(value);
    case "texts":
      return Array.isArray(value) ? serializeTexts(value, limit) : "[]";
    case "target":
      // the limit first: a target may be a megabyte
      return serializeText(redactTarget(asText(value).slice(0, 4 * limit)), limit);
    case "text":
      return serializeText(asText(value), limit);
  }
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
}

function serializeInteger(value: unknown): string {
  const number = typeof value === "number" ? Math.floor(value) : 0;
  return Number.isSafeInteger(number) ? String(number) : "0";
}

function serializeTexts(values: readonly unknown[], limit: number): string {
  let list = "";
  for (const value of values) {
    const item = serializeText(asText(value), 64);
    if (list.length + item.length + 3 > limit) break;
    list += list === "" ? item : `,${item}`;
  }
  return `[${list}]`;
}

/** A JSON string of at most `limit` characters and its quotes; what is cut off is marked by `...`. */
function serializeText(text: string, limit: number): string {
  const clean = sanitize(text, limit);
  if (NEEDS_NO_ESCAPE.test(clean)) return `"${clean}"`;
  const json = ascii(JSON.stringify(clean));
  if (json.length - 2 <= limit) return json;
  let short = "";
  for (const character of clean) {
    const escaped = ascii(JSON.stringify(character)).slice(1, -1);
    if (short.length + escaped.length > limit - 3) break;
    short += escaped;
  }
  return `"${short}..."`;
}

const NEEDS_NO_ESCAPE = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;
const BEYOND_ASCII = /[\x7f-\uffff]/g;
const HAS_BEYOND_ASCII = /[\x7f-\uffff]/;

/** JSON in ASCII alone: what a terminal, a pipe or a log shipper does with other bytes is nothing to rely on. */
function ascii(json: string): string {
  if (!HAS_BEYOND_ASCII.test(json)) return json;
  return json.replace(BEYOND_ASCII, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
