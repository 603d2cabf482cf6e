import type { AuditRecord, OutcomeRecord, ShadowRecord } from "../../protocol/index.ts";
import { HIDDEN, MAX_READINGS, readingsOf, type Reading } from "../../text/index.ts";

/**
 * Members of a decision's record that do not identify the person: rules, policy set, and ids. Everything else that a
 * gateway writes, now or later, might: the path as received, the values in an explanation.
 */
export const IMPERSONAL_MEMBERS: readonly string[] = [
  "evaluation_time_ms",
  "rule_name",
  "rule_resource",
  "policy_digest",
  "rollout_arm",
  "customer_policy_set",
  "trace_id",
  "unknown",
  "accepted_ambiguities",
] satisfies readonly (keyof AuditRecord)[];

/**
 * The same for an outcome: the peer chooses a connection's close reason, message types, and names within a document.
 */
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

/** The same for what a candidate would have decided differently: its detail may name values. */
const IMPERSONAL_SHADOW: readonly string[] = [
  "difference",
  "policy_digest",
  "decision",
  "reason",
  "candidate_policy_set",
  "candidate_digest",
  "candidate_decision",
  "candidate_reason",
  "candidate_rule",
] satisfies readonly (keyof ShadowRecord)[];

/** Members that are kept, by kind of record; for all other kinds those of an outcome. */
export const IMPERSONAL_BY_KIND: Readonly<Record<"decision" | "shadow", readonly string[]>> = {
  decision: IMPERSONAL_MEMBERS,
  shadow: IMPERSONAL_SHADOW,
};

/** Members of an event's data that do not identify the person; `user`, `session` and `detail` are kept in part. */
export const IMPERSONAL_DATA: readonly string[] = [
  ...[
    "customer",
    "policy",
    "policy_set",
    "rollout",
    "api_key",
    "gateway",
    "webhook",
    "reason",
    "decision_id",
  ],
  ...["count", "first_at", "last_at", "others"],
];

/** A segment of a path, or a word of a text; a soft line break of quoted-printable ends neither. */
const SEGMENT = /(?:=\r?\n|[^/\s])+/g;
/** `@`, its full-width and its small form. */
const ADDRESS = /.[@\uff20\ufe6b]./s;
/** `key=40.5` is not an address in quoted-printable, unless it contains a domain. */
const DOMAIN_ADDRESS = /[^\s@]@[^\s@]+\.\p{L}{2}/u;
/** In international form (E.164), which nothing else looks like. */
const TELEPHONE = /(?<![\p{L}\p{N}+])\+[1-9](?:[ ().-]{0,2}\d){6,14}(?!\d)/u;
/**
 * Maximum number of characters to read for one text, in all its readings together, because others wait meanwhile. A
 * usual path needs a hundredth of it.
 */
const MAX_WORK = 32_768;
const COST_OF_READING = 64;
/** Every address and number, however encoded, contains one of these characters. */
const MAY_NAME = /[@\uff20\ufe6b+%\\&=]/;

/**
 * Hides what looks like an e-mail address or a telephone number, however it is encoded: segments with a reading that
 * contains one, segments with more readings than anybody intends, and segments that there is no time to read.
 *
 * @param isKept - whether a match in one of these readings is kept nevertheless
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

/** The parts of a recorded row that may identify the person; `record` is JSON. */
interface RecordedRow {
  readonly kind: string;
  readonly client_ip: string | null;
  readonly resource: string;
  readonly record: string;
}

/**
 * Removes personal data from a record about an erased user. The ids stay, so that counts remain correct and the trail
 * stays connected.
 */
export function withoutPerson<Row extends RecordedRow>(row: Row): Row {
  const { kind } = row;
  const hasResource = kind === "decision" || kind === "shadow";
  const kept = hasResource ? IMPERSONAL_BY_KIND[kind] : IMPERSONAL_OUTCOME;
  const members = Object.entries(JSON.parse(row.record) as Record<string, unknown>);
  const record = JSON.stringify(Object.fromEntries(members.filter(([name]) => kept.includes(name))));
  if (!hasResource) return { ...row, record };
  return { ...row, client_ip: "", resource: withoutAddresses(row.resource), record };
}

/** Events of sign-ins that were refused; before the user exists, they name the person by their `sub`. */
export const REFUSED_SIGN_INS = ["user.authentication_failed", "policy.violated"] as const;

/** The parts of an event that identify the person at the provider, for an event without a user. */
export function subjectDetail(subject: string): string {
  return printable(`sub ${subject}`);
}

/** One line of limited length, whatever a provider has sent. */
export function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "?").slice(0, 300);
}
