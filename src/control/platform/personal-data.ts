import type { AuditRecord, OutcomeRecord } from "../../protocol/index.ts";
import { HIDDEN } from "../../text/index.ts";

/**
 * Members of a decision's record that say nothing of who it was: what the rules and their set were, and ids. Whatever else a
 * gateway writes, now or later, may: a path as it came, the values that an explanation shows.
 */
export const IMPERSONAL_MEMBERS: readonly string[] = [
  "evaluation_time_ms",
  "rule_name",
  "rule_resource",
  "policy_digest",
  "customer_policy_set",
  "trace_id",
  "unknown",
  "accepted_ambiguities",
] satisfies readonly (keyof AuditRecord)[];

/** The same of an outcome: the peer chooses a connection's close reason, types of messages, and names within a document. */
export const IMPERSONAL_OUTCOME: readonly string[] = [
  "response_code",
  "duration_ms",
  "result",
  "reason",
  "detail",
  "masked_count",
  "documents_dropped",
  "response_bytes",
  "response_flags",
  "upstream",
  "upstream_status",
  "upstream_ms",
  "sent_delivered",
  "sent_dropped",
  "received_delivered",
  "received_dropped",
  "close_code",
  "closed_by",
] satisfies readonly (keyof OutcomeRecord)[];

/** Members of an event's data that say nothing of who it was; `user`, `session` and `detail` are kept in part. */
export const IMPERSONAL_DATA: readonly string[] = [
  ...["customer", "policy", "policy_set", "api_key", "webhook", "reason", "decision_id"],
  ...["count", "first_at", "last_at", "others"],
];

/**
 * `@` as it is, in full width, percent-encoded in the usual ways, as a character reference (HTML), or as an escape of JavaScript:
 * not every spelling that some decoder takes. A pattern that PostgreSQL and RegExp read alike.
 */
const AT =
  "@|\uff20|%(?:25|%32%35)*(?:4|%34)(?:0|%30)|%(?:25)*[eE][fF]%(?:25)*[bB][cC]%(?:25)*[aA]0|" +
  "&#0*64;|&#[xX]0*40;|&commat;|[%\\\\]u(?:0040|[fF][fF]20)|\\\\x40";

/**
 * A segment of a path, or a word of a text, that has an e-mail address in it, in the spellings of {@link AT} (RFC 3986,
 * section 2.1).
 */
export const ADDRESS_PATTERN = `[^/[:space:]]+(${AT})[^/[:space:]]+`;
const SEGMENT = /[^/\s]+/g;
const ADDRESS = new RegExp(`.(?:${AT}).`, "s");

/**
 * Hides what looks like an e-mail address.
 *
 * @param isKept - segments that stay as they are, nevertheless
 */
export function withoutAddresses(text: string, isKept: (segment: string) => boolean = () => false): string {
  return text.replace(SEGMENT, (segment) => (ADDRESS.test(segment) && !isKept(segment) ? HIDDEN : segment));
}

/** What of a recorded row may say who it was; `record` is JSON. */
interface RecordedRow {
  readonly kind: string;
  readonly client_ip: string | null;
  readonly resource: string;
  readonly record: string;
}

/** What a gateway recorded of somebody who was erased: the ids stay, so that counts and the trail hold together. */
export function withoutPerson<Row extends RecordedRow>(row: Row): Row {
  const isDecision = row.kind === "decision";
  const kept = isDecision ? IMPERSONAL_MEMBERS : IMPERSONAL_OUTCOME;
  const members = Object.entries(JSON.parse(row.record) as Record<string, unknown>);
  const record = JSON.stringify(Object.fromEntries(members.filter(([name]) => kept.includes(name))));
  if (!isDecision) return { ...row, record };
  return { ...row, client_ip: "", resource: withoutAddresses(row.resource), record };
}

/** What an event says of who it was to the provider, where there is no user yet. */
export function subjectDetail(subject: string): string {
  return printable(`sub ${subject}`);
}

/** One line of bounded length, whatever a provider has sent. */
export function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "?").slice(0, 300);
}
