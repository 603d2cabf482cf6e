import { createHash } from "node:crypto";
import type {
  ConditionIR,
  PlanIR,
  PlannedField,
  PlannedMessage,
  ResponseFieldIR,
} from "../../policy/evaluation.ts";
import { fieldText } from "../../policy/suite/index.ts";
import type { Snapshot } from "../policies/snapshot.ts";

/**
 * Describes what is left to do after a permit, so that the plans of two policy sets can be compared without the values in
 * them. By what it is about:
 *
 * - `field $.customer.ssn`, `send chat field name`: how the field is masked, `partial` or `partial if 1a2b3c4d`
 * - `send chat`, `receive *`: whether messages pass, `pass`, `never` or `if 1a2b3c4d`; `*` is every type that is not listed
 * - `graphql Query.orders`, `event orders`: the same for operations on a connection, and for the events of a subscription
 *
 * The digits are a digest of the condition's text: what it reads is known only with the response, message or event.
 */
export function describePlan(plan: PlanIR, snapshot: Snapshot): Readonly<Record<string, string>> {
  const described: Record<string, string> = {};
  const digests = digestsOf(snapshot);
  const add = (name: string, state: string) => {
    const before = described[name];
    described[name] = before === undefined || before === state ? state : [before, state].sort().join(" and ");
  };
  const addFields = (prefix: string, fields: readonly PlannedField[] = []) => {
    for (const field of fields) {
      const name = fieldText(field);
      const condition = field.when === undefined ? "" : ` if ${digests.get(`${field.rule} ${name}`) ?? "?"}`;
      const { action } = field;
      const how = action.kind === "replace" ? `replace ${digestOf(action.replacement)}` : action.kind;
      add(`${prefix}field ${name}`, `${how}${condition}`);
    }
  };
  const addMessages = (direction: string, messages: Readonly<Record<string, PlannedMessage>> | undefined) => {
    if (messages === undefined) return;
    add(`${direction} *`, "never");
    for (const [type, message] of Object.entries(messages)) {
      add(`${direction} ${type}`, passes(message.when, digests.get(message.rule)));
      addFields(`${direction} ${type} `, message.fields);
    }
  };
  const { response, websocket } = plan;
  addFields("", response?.fields);
  for (const { key, rule, when } of response?.events?.conditions ?? [])
    add(`event ${key}`, passes(when, digests.get(rule)));
  addFields("receive * ", websocket?.fields);
  addMessages("send", websocket?.send);
  addMessages("receive", websocket?.receive);
  if (websocket?.graphql !== undefined) {
    const { rules, default: others } = websocket.graphql;
    add("graphql *", others === "allow" ? "pass" : "never");
    for (const { operation, type, field, rule, when } of rules)
      add(
        `graphql ${operation} ${type === undefined ? "" : `${type}.`}${field}`,
        passes(when, digests.get(rule)),
      );
  }
  return described;
}

function passes(when: object | false | undefined, digest: string | undefined): string {
  if (when === undefined) return "pass";
  return when === false ? "never" : `if ${digest ?? "?"}`;
}

const known = new WeakMap<Snapshot, ReadonlyMap<string, string>>();

/** The digests of all conditions of which a part may be left, by rule, and by rule and field. */
function digestsOf(snapshot: Snapshot): ReadonlyMap<string, string> {
  let digests = known.get(snapshot);
  if (digests !== undefined) return digests;
  const { responses, graphql, websocket } = snapshot.ir;
  const messages = websocket.connections.flatMap((connection) => connection.messages);
  digests = new Map([
    ...[...graphql.rules, ...messages].map(
      ({ id, condition }) => [id, digestOfCondition(condition)] as const,
    ),
    ...[...responses, ...messages].flatMap(({ id, fields }) => fieldDigests(id, fields)),
  ]);
  known.set(snapshot, digests);
  return digests;
}

/** Several conditions for one field count as one. */
function fieldDigests(id: string, fields: readonly ResponseFieldIR[]): (readonly [string, string])[] {
  const sources = new Map<string, string>();
  for (const { field, condition } of fields) {
    const name = `${id} ${fieldText(field)}`;
    sources.set(name, `${sources.get(name) ?? ""}${condition.source}\n`);
  }
  return [...sources].map(([name, source]) => [name, digestOf(source)] as const);
}

function digestOfCondition({ source }: ConditionIR): string {
  return digestOf(source);
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 8);
}
