import type { AuditRecord, OutcomeRecord } from "../../protocol/index.ts";
import { HIDDEN, MAX_READINGS, readingsOf, type Reading } from "../../text/index.ts";

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

/** A segment of a path, or a word of a text; a soft line break of quoted-printable ends neither. */
const SEGMENT = /(?:=\r?\n|[^/\s])+/g;
/** `@`, its full-width and its small form. */
const ADDRESS = /.[@\uff20\ufe6b]./s;
/** `key=40.5` is no address of quoted-printable, unless it names a domain. */
const DOMAIN_ADDRESS = /[^\s@]@[^\s@]+\.\p{L}{2}/u;
/** In international form (E.164), which nothing else looks like. */
const TELEPHONE = /(?<![\p{L}\p{N}+])\+[1-9](?:[ ().-]{0,2}\d){6,14}(?!\d)/u;
/** Characters that are read of one text, in all readings together: others wait meanwhile. Of a usual path it is a hundredth. */
const MAX_WORK = 32_768;
const COST_OF_READING = 64;
/** Whatever it is made of has one of these in it. */
const MAY_NAME = /[@\uff20\ufe6b+%\\&=]/;

/**
 * Hides what looks like an e-mail address or a telephone number, however it is encoded: the segments that can be read as having
 * one in them, and those that can be read in more ways than anybody means, or that there is no time to read.
 *
 * @param isKept - what stays, nevertheless, read in one of these ways
 */
export function withoutAddresses(text: string, isKept: (read: string) => boolean = () => false): string {
  if (!MAY_NAME.test(text)) return text;
  let left = MAX_WORK;
  return text.replace(SEGMENT, (segment) => {
    if (!MAY_NAME.test(segment)) return segment;
    const cost = segment.length + COST_OF_READING;
    const { readings, unfinished } = readingsOf(segment, Math.min(left / cost, MAX_READINGS));
    left -= readings.length * cost;
    const isHidden =
      (unfinished || readings.some(namesSomebody)) && !readings.some(({ text: as }) => isKept(as));
    return isHidden ? HIDDEN : segment;
  });
}

function namesSomebody({ text, quotedPrintable }: Reading): boolean {
  return (quotedPrintable ? DOMAIN_ADDRESS : ADDRESS).test(text) || TELEPHONE.test(text);
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
