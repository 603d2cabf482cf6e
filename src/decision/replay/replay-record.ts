import { isObject } from "../../json/index.ts";
import { STRICTNESS } from "../../policy/mask/index.ts";
import type { AuditRecord, RecordInputs, RulesInputs } from "../../protocol/record.ts";
import { PROXY_REASONS, type Reason } from "../../reasons.ts";
import { decidingRule } from "../decide/deciding-rule.ts";
import type { InputHash } from "../inputs/input-hash.ts";
import { ruleReference, type RuleReference } from "../policies/rule-reference.ts";
import type { Snapshot } from "../policies/snapshot.ts";
import type { Decision } from "../types.ts";
import { repeatDecision, type DescribedPlan } from "./repeat-decision.ts";

/** The policy sets that records are replayed with. */
export interface ReplayedSets {
  readonly candidate: Snapshot;
  /** The set that was in force: it must give each recorded verdict again. */
  readonly stable?: Snapshot;
  readonly hash?: InputHash;
}

/** What replaying one record says. */
export interface ReplayedRecord {
  readonly record: DecisionRecord;
  readonly outcome: ReplayOutcome;
  /** Whether the stable set gives the recorded verdict; absent without one, or if the record does not hold what it takes. */
  readonly reproduced?: boolean;
}

export type ReplayOutcome =
  | { readonly kind: "not_replayable"; readonly reasons: readonly string[] }
  | { readonly kind: "replayed"; readonly change: Change | undefined };

/**
 * `loses`, `gains`: the request is decided otherwise. `sees_less`, `sees_more`: it is permitted as before, and the plan for
 * its response or connection lets less or more pass.
 */
export interface Change {
  readonly kind: ChangeKind;
  /** Of the candidate. */
  readonly reason: Reason;
  /** The candidate's rule that decides; absent if none does. */
  readonly rule?: RuleReference;
  /** What is masked or passes otherwise: `field $.ssn: partial, was full`. */
  readonly parts?: readonly string[];
}
export const CHANGE_KINDS = ["loses", "gains", "sees_less", "sees_more"] as const;
export type ChangeKind = (typeof CHANGE_KINDS)[number];

/** A record that is about something else than a decision: an outcome, a difference in shadow, a change of the rollout. */
export interface OtherRecord {
  readonly event: string;
}

/** The members of a decision's record that a replay reads. */
export interface DecisionRecord {
  readonly timestamp: string;
  readonly decision_id: string;
  readonly request_id: string;
  readonly user_id: string;
  readonly customer_id: string;
  readonly action: string;
  readonly resource: string;
  readonly decision: AuditRecord["decision"];
  readonly reason: string;
  readonly rule: string | null;
  readonly rule_resource: string;
  readonly policy_set: string;
  readonly policy_digest: string;
  /** During a rollout: whose set decided. Empty otherwise. */
  readonly rollout_arm: string;
  readonly customer_policy_set: string;
  readonly client_ip: string;
  readonly inputs?: RecordInputs;
}

const PROXY: ReadonlySet<string> = new Set(PROXY_REASONS);

/** Denials of what the rules permitted, and failures: the policy set alone does not explain them. */
const OF_THE_GATEWAY: ReadonlySet<string> = new Set<Reason>([
  "POLICY_NOT_READY",
  "IDENTITY_NOT_READY",
  "CUSTOMER_STATE_NOT_READY",
  "API_KEY_NOT_CHECKED",
  "POLICY_SETS_CONFLICT",
  "AUDIT_UNAVAILABLE",
  "PLAN_NOT_ENFORCEABLE",
  "PRECONDITION_NOT_SUPPORTED",
  "TOO_MANY_CONNECTIONS",
  "TOO_MANY_CONNECTIONS_OF_USER",
  "DEADLINE_EXCEEDED",
  "INTERNAL_ERROR",
  "BODY_NEEDED",
  "BODY_UNAVAILABLE",
  "BODY_TOO_LARGE",
]);

const NO_INPUTS = "the record has no inputs (`audit.inputs`)";
const TOO_LONG = "the inputs were too long for the record";
const CREDENTIAL = "the path or operation contains what looks like a credential";
const OTHER_SET = "another policy set decided";
const CUSTOMER_SET = "a customer's own policy set decides as well";
const GATEWAY_STATE = "the state of the gateway decided";
const LATE_CONDITION = "a condition on the response, message or event changed";

/**
 * @param value - one line of records, parsed
 * @returns what kind of record it is, if it is not that of a decision; or what is wrong with it
 */
export function readDecisionRecord(value: unknown): DecisionRecord | OtherRecord | string {
  if (!isObject(value)) return "not a JSON object";
  const members: Readonly<Record<string, unknown>> = value;
  const { decision, reason, inputs, rule, event, kind } = members;
  // the record of a difference in shadow has a `decision`, too
  if (event !== undefined) return typeof event === "string" ? { event } : "`event` is not a string";
  if (kind === "outcome" || kind === "change") return { event: kind };
  if (decision !== "ALLOW" && decision !== "DENY") return "`decision` is neither ALLOW nor DENY";
  if (typeof reason !== "string") return "`reason` is missing";
  if (inputs !== undefined && !isInputs(inputs)) return "`inputs` is malformed";
  const text = (name: string) => {
    const member = members[name];
    return typeof member === "string" ? member : "";
  };
  return {
    ...{ decision, reason, rule: typeof rule === "string" ? rule : null },
    ...{ timestamp: text("timestamp"), decision_id: text("decision_id"), request_id: text("request_id") },
    ...{ user_id: text("user_id"), customer_id: text("customer_id") },
    ...{ action: text("action"), resource: text("resource"), rule_resource: text("rule_resource") },
    ...{ policy_set: text("policy_set"), policy_digest: text("policy_digest") },
    rollout_arm: text("rollout_arm"),
    ...{ customer_policy_set: text("customer_policy_set"), client_ip: text("client_ip") },
    ...(inputs !== undefined && { inputs: inputs as unknown as RecordInputs }),
  };
}

const INPUT_TEXTS = ["environment", "method", "path", "host", "scheme", "protocol", "caller"] as const;
const INPUT_OBJECTS = ["values", "hashes", "lookups", "websocket", "preflight", "graphql", "plan"] as const;
const INPUT_LISTS = ["missing", "unavailable", "redacted", "variants"] as const;

function isInputs(value: unknown): boolean {
  if (!isObject(value)) return false;
  const inputs: Readonly<Record<string, unknown>> = value;
  if ("before_rules" in inputs || "left_out" in inputs) return true;
  return (
    typeof inputs["at"] === "number" &&
    INPUT_TEXTS.every((name) => typeof inputs[name] === "string") &&
    isPath(inputs["path"]) &&
    INPUT_OBJECTS.every((name) => inputs[name] === undefined || isObject(inputs[name])) &&
    INPUT_LISTS.every((name) => inputs[name] === undefined || Array.isArray(inputs[name]))
  );
}

/** Whether a path can be decoded again. */
function isPath(path: unknown): boolean {
  if (typeof path !== "string") return false;
  if (!path.includes("%")) return path === "*" || path.startsWith("/");
  try {
    return decodeURIComponent(path) !== "" && path.startsWith("/");
  } catch {
    return false;
  }
}

/** Decides a recorded request again with the candidate, and compares. */
export function replayRecord(record: DecisionRecord, sets: ReplayedSets): ReplayedRecord {
  const { candidate, stable, hash } = sets;
  const outcome = replayWith(record, candidate, hash);
  const inForce = stable && setInForce(record, candidate, stable);
  if (inForce === undefined) return { record, outcome };
  const again = inForce === candidate ? outcome : replayWith(record, inForce, hash);
  if (again.kind === "not_replayable") return { record, outcome };
  return { record, outcome, reproduced: again.change === undefined };
}

/** @returns the set that must give the recorded verdict; `undefined` if a candidate decided that is neither of the two */
function setInForce(
  { rollout_arm: arm, policy_digest: digest }: DecisionRecord,
  candidate: Snapshot,
  stable: Snapshot,
): Snapshot | undefined {
  return arm === "candidate" ? [candidate, stable].find((set) => set.digest === digest) : stable;
}

function replayWith(record: DecisionRecord, snapshot: Snapshot, hash: InputHash | undefined): ReplayOutcome {
  const { inputs } = record;
  // no policy set had a say, so none would change it
  if (PROXY.has(record.reason)) return UNCHANGED;
  if (inputs === undefined) return notReplayable(NO_INPUTS);
  if ("before_rules" in inputs)
    return OF_THE_GATEWAY.has(record.reason) ? notReplayable(GATEWAY_STATE) : UNCHANGED;
  if ("left_out" in inputs) return notReplayable(inputs.left_out === "credential" ? CREDENTIAL : TOO_LONG);
  if (nameIn(record.policy_set) !== snapshot.ir.name) return notReplayable(OTHER_SET);
  // the customer's own set denied, and would deny again whatever the gateway's set says
  if (record.customer_policy_set !== "") return UNCHANGED;
  const subject = { clientIp: record.client_ip, userId: record.user_id };
  const repeated = repeatDecision(inputs, snapshot, subject, hash);
  if (!repeated.ok) return { kind: "not_replayable", reasons: repeated.lacks };
  const { decision, plan, lacks } = repeated;
  // it was held because of that, and would be again; what its client was permitted then is another record
  if (record.reason === "CONNECTION_HELD" && decision.reason === "IDENTITY_REQUIRED") return UNCHANGED;
  if (decision.verdict !== record.decision) return verdictChange(record, inputs, decision);
  if (decision.verdict === "DENY") return UNCHANGED;
  if (plan === undefined) return { kind: "not_replayable", reasons: lacks };
  return planChange(inputs, decision, plan);
}

function verdictChange(record: DecisionRecord, inputs: RulesInputs, decision: Decision): ReplayOutcome {
  if (decision.verdict === "DENY") return changed("loses", decision);
  if (OF_THE_GATEWAY.has(record.reason)) return notReplayable(GATEWAY_STATE);
  // those sets were not asked, because the gateway's had denied
  if (inputs.customer_sets !== undefined) return notReplayable(CUSTOMER_SET);
  return changed("gains", decision);
}

function planChange(inputs: RulesInputs, decision: Decision, plan: DescribedPlan): ReplayOutcome {
  const before = inputs.plan ?? {};
  const names = new Set([...Object.keys(before), ...Object.keys(plan)]);
  if (names.size === 0) return UNCHANGED;
  // the plan is that of all sets together
  if (inputs.customer_sets !== undefined) return notReplayable(CUSTOMER_SET);
  const parts: string[] = [];
  let more = false;
  let less = false;
  for (const name of names) {
    const was = before[name] ?? defaultOf(name, before);
    const is = plan[name] ?? defaultOf(name, plan);
    if (was === is) continue;
    const order = strictnessOf(is) - strictnessOf(was);
    if (Number.isNaN(order) || order === 0) return notReplayable(LATE_CONDITION);
    if (order > 0) less = true;
    else more = true;
    parts.push(`${name}: ${is}, was ${was}`);
  }
  if (parts.length === 0) return UNCHANGED;
  // what becomes visible is the news, whatever else is hidden
  return changed(more || !less ? "sees_more" : "sees_less", decision, parts);
}

/** What holds for what a plan does not mention. */
function defaultOf(name: string, plan: DescribedPlan): string {
  const [about = ""] = name.split(" ");
  if (name.includes("field ") || about === "event") return "pass";
  return plan[`${about} *`] ?? "pass";
}

/**
 * How much is withheld: 0 nothing, more for stricter actions; half of it where a condition decides that later. NaN if that
 * cannot be said.
 */
function strictnessOf(state: string): number {
  if (state === "pass") return 0;
  if (state === "never") return NEVER;
  if (state.startsWith("if ")) return NEVER / 2;
  const [action = ""] = state.split(" ", 1);
  if (!Object.hasOwn(STRICTNESS, action) || state.includes(" and ")) return Number.NaN;
  const strictness = STRICTNESS[action as keyof typeof STRICTNESS];
  return state.includes(" if ") ? strictness / 2 : strictness;
}
const NEVER = 10;

const UNCHANGED: ReplayOutcome = { kind: "replayed", change: undefined };

function notReplayable(reason: string): ReplayOutcome {
  return { kind: "not_replayable", reasons: [reason] };
}

function changed(kind: ChangeKind, decision: Decision, parts?: readonly string[]): ReplayOutcome {
  const rule = decidingRule(decision);
  const change: Change = {
    kind,
    reason: decision.reason,
    ...(rule !== undefined && { rule: ruleReference(rule) }),
    ...(parts !== undefined && { parts }),
  };
  return { kind: "replayed", change };
}

function nameIn(label: string): string {
  const at = label.lastIndexOf("@");
  return at < 0 ? label : label.slice(0, at);
}
