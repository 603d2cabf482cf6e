import { createHash } from "node:crypto";
import { isObject } from "../../../json/index.ts";
import type { AuditRecord, RecordInputs, RecordMember } from "../../../protocol/index.ts";

/** One record of a gateway, as a row of the audit trail. PostgreSQL can store and index all its texts. */
export interface RecordRow {
  /** Unix ms. */
  readonly timestamp: number;
  readonly kind: "decision" | "response" | "connection" | "shadow" | "rollout";
  readonly id: string;
  readonly request_id: string;
  readonly customer_id: string | null;
  readonly user_id: string;
  readonly decision: "ALLOW" | "DENY" | null;
  readonly reason: string | null;
  readonly resource: string;
  readonly action: string;
  readonly rule: string | null;
  readonly policy_set: string | null;
  readonly client_ip: string | null;
  readonly evaluation_time_us: number | null;
  /** The members that have no column, serialized. */
  readonly record: string;
}

/** A record as received. Nothing about it is certain. */
export type Members = Readonly<Partial<Record<RecordMember, unknown>>>;

/** Parts of a record that have no column but are needed for ingestion. */
export interface RecordFacts {
  readonly row: RecordRow;
  /** What the rule guards (`GET /api/customers/{customer_id}`); empty without a rule. Of few values, unlike paths. */
  readonly guarded: string;
  readonly members: Members;
  /** What the rules read, serialized; stored apart from the record. */
  readonly inputs?: string;
  /** The user exists, but under another customer. */
  readonly isForeignUser?: boolean;
}

/** Texts with a column, and the maximum bytes of each, because they must fit in an index. */
const TEXTS = {
  request_id: 512,
  user_id: 1024,
  resource: 16_384,
  action: 256,
  policy_set: 512,
  client_ip: 128,
} as const satisfies Partial<Record<keyof AuditRecord, number>>;
const MAX_CUSTOMER = 512;
const MAX_RULE = 1024;
const MAX_GUARDED = 512;
const MAX_REST = 262_144;
const MAX_INPUTS = 65_536;
/** What gateways write themselves if the inputs are too large for a record. */
const LEFT_OUT = JSON.stringify({ left_out: "size" } satisfies RecordInputs);
const MAX_DEPTH = 64;

const ID = /^[\x21-\x7e]{1,64}$/;
const REASON = /^[A-Z][A-Z0-9_]{0,63}$/;
/** ISO 8601 with a zone. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;
/** The end of the year 9999, Unix ms. */
const LATEST = 253_402_300_799_999;
/** The output of `JSON.stringify` for characters that jsonb cannot store. */
const NOT_STORABLE = /\\u(?:0000|d[89a-f][0-9a-f]{2})/;

/** Members for the origin, which only we may set. */
const PROVENANCE = ["ingested_by", "gateway", "received_at"];
const DECISION_COLUMNS: ReadonlySet<string> = new Set([
  ...columns("timestamp", "decision_id", "decision", "reason", "rule", "customer_id", "evaluation_time_us"),
  ...Object.keys(TEXTS),
  ...columns("inputs"),
  ...PROVENANCE,
]);
const OUTCOME_COLUMNS: ReadonlySet<string> = new Set([
  ...columns("timestamp", "event", "decision_id", "request_id"),
  // only decisions have any: here they would be kept as long as the record
  ...columns("inputs"),
  ...PROVENANCE,
]);

const SHADOW_COLUMNS: ReadonlySet<string> = new Set([
  ...columns("timestamp", "event", "request_id", "customer_id", "user_id", "resource", "action"),
  ...columns("policy_set", "rule", "inputs"),
  ...PROVENANCE,
]);
const ROLLOUT_COLUMNS: ReadonlySet<string> = new Set([
  ...columns("timestamp", "event", "decision_id", "policy_set", "inputs"),
  ...PROVENANCE,
]);

function columns(...names: readonly RecordMember[]): readonly RecordMember[] {
  return names;
}

class Problem extends Error {}

/**
 * Reads a record as gateways write it (`src/protocol/record.ts`). Members that are not known are kept.
 *
 * @returns what is wrong with it, if anything
 */
export function readRecord(value: unknown): RecordFacts | string {
  try {
    if (!isObject(value)) throw new Problem("a record must be an object");
    const members: Members = value;
    if (!Object.hasOwn(members, "event")) return readDecision(members);
    if (members["event"] === "shadow_decision") return readShadow(members);
    return members["event"] === "rollout" ? readRollout(members) : readOutcome(members);
  } catch (error) {
    if (error instanceof Problem) return error.message;
    throw error;
  }
}

function readDecision(members: Members): RecordFacts {
  const { decision, reason, evaluation_time_us: took } = members;
  if (decision !== "ALLOW" && decision !== "DENY") throw new Problem("`decision` must be ALLOW or DENY");
  if (typeof reason !== "string" || !REASON.test(reason)) throw new Problem("`reason` must be a code");
  if (typeof took !== "number" || !Number.isSafeInteger(took) || took < 0)
    throw new Problem("`evaluation_time_us` must be a whole number");
  const row: Omit<RecordRow, "id"> = {
    timestamp: timeOf(members),
    kind: "decision",
    request_id: textOf(members, "request_id"),
    customer_id: optionalText(members, "customer_id", MAX_CUSTOMER),
    user_id: textOf(members, "user_id"),
    decision,
    reason,
    resource: textOf(members, "resource"),
    action: textOf(members, "action"),
    rule: optionalText(members, "rule", MAX_RULE),
    policy_set: textOf(members, "policy_set"),
    client_ip: textOf(members, "client_ip"),
    evaluation_time_us: took,
    record: restOf(members, DECISION_COLUMNS),
  };
  // a record that could not be built has no id; identical content then counts as the same record
  const id = members["decision_id"] === "" ? contentId(row) : decisionIdOf(members);
  const inputs = inputsOf(members);
  return {
    row: { ...row, id },
    members,
    guarded: guardedBy(members, row),
    ...(inputs !== undefined && { inputs }),
  };
}

function readOutcome(members: Members): RecordFacts {
  const { event } = members;
  if (event !== "response" && event !== "connection")
    throw new Problem("`event` must be response, connection, shadow_decision or rollout");
  const row: Omit<RecordRow, "id"> = {
    ...NO_DECISION,
    timestamp: timeOf(members),
    kind: event,
    request_id: members["request_id"] === undefined ? "" : textOf(members, "request_id"),
    record: restOf(members, OUTCOME_COLUMNS),
  };
  // without a decision's id it belongs to a request
  const isOfRequest = members["decision_id"] === "" && row.request_id !== "";
  const id = isOfRequest ? contentId(row, OUTCOME_PREFIX) : decisionIdOf(members);
  return { row: { ...row, id }, members, guarded: "" };
}

/** The columns of what is not a decision: only decisions are counted, and found by their verdict. */
const NO_DECISION = {
  ...{ request_id: "", customer_id: null, user_id: "", decision: null, reason: null },
  ...{ resource: "", action: "", rule: null, policy_set: null, client_ip: null, evaluation_time_us: null },
} as const;

/** What a candidate would have decided differently. The columns are those of the decision that had effect. */
function readShadow(members: Members): RecordFacts {
  const { difference, candidate_decision: decided } = members;
  if (difference !== "denies" && difference !== "allows" && difference !== "plan")
    throw new Problem("`difference` must be denies, allows or plan");
  if (decided !== "ALLOW" && decided !== "DENY")
    throw new Problem("`candidate_decision` must be ALLOW or DENY");
  const row: Omit<RecordRow, "id"> = {
    ...NO_DECISION,
    timestamp: timeOf(members),
    kind: "shadow",
    request_id: textOf(members, "request_id"),
    customer_id: optionalText(members, "customer_id", MAX_CUSTOMER),
    user_id: textOf(members, "user_id"),
    resource: textOf(members, "resource"),
    action: textOf(members, "action"),
    rule: optionalText(members, "rule", MAX_RULE),
    policy_set: textOf(members, "policy_set"),
    record: restOf(members, SHADOW_COLUMNS),
  };
  // it has no id of its own
  return { row: { ...row, id: contentId(row, "shd_") }, members, guarded: "" };
}

/** A change of a rollout at one gateway. */
function readRollout(members: Members): RecordFacts {
  if (typeof members["change"] !== "string") throw new Problem("`change` must be a string");
  const row: Omit<RecordRow, "id"> = {
    ...NO_DECISION,
    timestamp: timeOf(members),
    kind: "rollout",
    policy_set: textOf(members, "policy_set"),
    record: restOf(members, ROLLOUT_COLUMNS),
  };
  return { row: { ...row, id: decisionIdOf(members) }, members, guarded: "" };
}

function timeOf({ timestamp }: Members): number {
  const time =
    typeof timestamp === "string" && TIME.test(timestamp) && isDate(timestamp.slice(0, 10))
      ? Date.parse(timestamp)
      : Number.NaN;
  if (Number.isNaN(time)) throw new Problem("`timestamp` must be a time in ISO 8601");
  // by its zone it may be of the year 10000, which four digits do not tell
  if (time > LATEST) throw new Problem("`timestamp` must be before the year 10000");
  return time;
}

/** `Date.parse` takes 30 February for 2 March. */
function isDate(day: string): boolean {
  const midnight = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(day);
}

function decisionIdOf({ decision_id: id }: Members): string {
  if (typeof id !== "string" || !ID.test(id))
    throw new Problem("`decision_id` must be 1 to 64 visible ASCII characters");
  return id;
}

/** Of ids of outcomes whose decision is known by its request alone. */
export const OUTCOME_PREFIX = "out_";

function contentId(row: Omit<RecordRow, "id">, prefix = "dec_"): string {
  return `${prefix}${createHash("sha256").update(JSON.stringify(row)).digest("hex").slice(0, 40)}`;
}

function textOf(members: Members, name: keyof typeof TEXTS): string {
  const value = members[name];
  if (typeof value !== "string") throw new Problem(`\`${name}\` must be a string`);
  return bounded(name, value, TEXTS[name]);
}

function optionalText(members: Members, name: RecordMember, bytes: number): string | null {
  const value = members[name];
  if (value === undefined || value === null) return null;
  if (typeof value !== "string") throw new Problem(`\`${name}\` must be a string`);
  return bounded(name, value, bytes);
}

function bounded(name: string, value: string, bytes: number): string {
  const text = storable(value);
  // no character has more than three bytes a UTF-16 unit
  if (text.length * 3 > bytes && Buffer.byteLength(text) > bytes)
    throw new Problem(`\`${name}\` must have at most ${bytes} bytes`);
  return text;
}

/** Replaces U+0000 and unpaired surrogates, which PostgreSQL cannot store, with U+FFFD. */
export function storable(text: string): string {
  return (text.includes("\0") ? text.replaceAll("\0", "\ufffd") : text).toWellFormed();
}

function restOf(members: Members, columns: ReadonlySet<string>): string {
  const rest = Object.create(null) as Record<string, unknown>;
  for (const [name, value] of Object.entries(members)) {
    if (columns.has(name)) continue;
    if (typeof value === "object" && value !== null && !isShallow(value, MAX_DEPTH))
      throw new Problem(`the record is nested more than ${MAX_DEPTH} levels deep`);
    rest[name] = value;
  }
  let json = JSON.stringify(rest);
  if (NOT_STORABLE.test(json)) json = JSON.stringify(storableValue(rest));
  if (json.length > MAX_REST) throw new Problem(`the record must have at most ${MAX_REST} characters`);
  return json;
}

function inputsOf({ inputs }: Members): string | undefined {
  if (inputs === undefined) return undefined;
  if (!isObject(inputs)) throw new Problem("`inputs` must be an object");
  const json = isShallow(inputs, MAX_DEPTH) ? JSON.stringify(inputs) : undefined;
  // a record is worth more than its inputs
  return json === undefined || json.length > MAX_INPUTS ? LEFT_OUT : json;
}

function isShallow(value: object, depth: number): boolean {
  if (depth === 0) return false;
  return (Object.values(value) as unknown[]).every(
    (member) => typeof member !== "object" || member === null || isShallow(member, depth - 1),
  );
}

function storableValue(value: unknown): unknown {
  if (typeof value === "string") return storable(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(storableValue);
  const clean = Object.create(null) as Record<string, unknown>;
  for (const [name, member] of Object.entries(value)) clean[storable(name)] = storableValue(member);
  return clean;
}

/**
 * The rule's resource. Gateways of earlier releases do not send it; then the set's name and the rule's number are used.
 * The rule's own name is never used, because it would appear among resources as if it were one.
 */
function guardedBy(members: Members, { rule, policy_set: set }: Omit<RecordRow, "id">): string {
  if (rule === null) return "";
  const { rule_resource: resource } = members;
  const isSaid = typeof resource === "string" && resource !== "";
  const guarded = storable(isSaid ? resource : `${set?.split("@", 1)[0] ?? ""} ${rule}`.trim());
  return Buffer.byteLength(guarded) > MAX_GUARDED
    ? `${guarded.slice(0, MAX_GUARDED / 3 - 1).toWellFormed()}…`
    : guarded;
}
