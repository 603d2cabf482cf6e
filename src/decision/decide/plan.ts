import {
  pathsIn,
  specialize,
  type Attributes,
  type ConditionIR,
  type Expression,
  type GraphqlErrorIR,
  type GraphqlPlanIR,
  type PlanIR,
  type PlannedEvent,
  type PlannedEventsIR,
  type PlannedField,
  type PlannedGraphqlRule,
  type PlannedMessage,
  type ResponseFieldIR,
  type Specialized,
  type WebsocketMessageIR,
} from "../../policy/evaluation.ts";
import type { GraphqlEvent } from "../../graphql/index.ts";
import type { PreparedGraphql, Snapshot } from "../policies/snapshot.ts";

/** Roots that are known only with the response. */
const WITH_RESPONSE: ReadonlySet<string> = new Set(["item", "response"]);
/** Roots that are known only with the message, including the message's time. */
const WITH_MESSAGE: ReadonlySet<string> = new Set(["message", "env"]);

/**
 * Decides as much of a condition as is known.
 *
 * @param purpose - what a condition that is true does
 */
export type Specialize = (
  expression: Expression,
  attributes: Attributes,
  late: ReadonlySet<string>,
  purpose: "permits" | "masks",
) => Specialized;

/** @returns the fields that a response rule may still mask; a field is left out only if its condition is false */
export function planFields(
  rule: string,
  fields: readonly ResponseFieldIR[],
  attributes: Attributes,
  decide: Specialize = specialize,
): readonly PlannedField[] {
  return fields.flatMap(({ field, action, condition }) => {
    const left = decide(condition.expression, attributes, WITH_RESPONSE, "masks");
    if (left.known && left.verdict === false) return [];
    return { rule, ...field, action, ...(left.known ? {} : { when: left.residual }) };
  });
}

/**
 * @param options.graphql - the response is the result of evaluated operations, and only a complete one may be delivered
 * @param options.errors - added to a GraphQL response
 * @param options.events - conditions on the events of a subscription
 * @param options.othersPass - responses of other types pass; never if an operation was evaluated, because its response
 *   is JSON
 * @returns the plan for a response; nothing if there is nothing to mask
 */
export function planAnswer(
  limit: number,
  fields: readonly PlannedField[],
  options: {
    readonly graphql?: boolean;
    readonly errors?: readonly GraphqlErrorIR[];
    readonly othersPass?: boolean;
    readonly events?: PlannedEventsIR | undefined;
  } = {},
): Pick<PlanIR, "response"> {
  const { graphql = false, errors = [], othersPass = false, events } = options;
  if (fields.length === 0 && events === undefined && !graphql) return {};
  const kind = {
    ...(othersPass && ({ otherTypes: "pass" } as const)),
    ...(graphql && ({ graphql: true } as const)),
  };
  const more = { ...kind, ...(errors.length > 0 && { errors }), ...(events && { events }) };
  return { response: { limit, fields, ...more } };
}

/** @returns what is left of the conditions on a subscription's events, whose arguments are known */
export function planEvents(
  events: readonly GraphqlEvent[],
  environment: string,
): PlannedEventsIR | undefined {
  const conditions = events.flatMap(({ rule, key, when, roots, members, args }): PlannedEvent[] => {
    const left = specialize(when, { args } as Attributes, new Set([...roots, "env"]));
    if (left.known && left.verdict === true) return [];
    return [{ rule, key, when: left.known ? false : left.residual, roots, members }];
  });
  return conditions.length === 0 ? undefined : { environment, conditions };
}

/** @returns what decides on messages of one direction, by type; `undefined` if no type is listed */
export function planMessages(
  messages: readonly WebsocketMessageIR[],
  direction: WebsocketMessageIR["direction"],
  attributes: Attributes,
  decide: Specialize = specialize,
): Readonly<Record<string, PlannedMessage>> | undefined {
  const listed = messages.filter((message) => message.direction === direction);
  if (listed.length === 0) return undefined;
  return Object.fromEntries(
    listed.map(({ id, type, condition, onDeny, fields }) => {
      const planned = planFields(id, fields, attributes, decide);
      const message: PlannedMessage = {
        rule: id,
        ...permission(condition, attributes, WITH_MESSAGE, decide),
        onDeny,
        ...(planned.length > 0 && { fields: planned }),
      };
      return [type, message];
    }),
  );
}

/**
 * @param guarded - response rules of every set that apply at the endpoint: an alias must not add or remove the names
 *   that they look for
 * @returns what decides on the operations of one request or connection
 */
export function planGraphql(
  { ir, graphql }: Pick<Snapshot, "ir"> & { readonly graphql: PreparedGraphql },
  attributes: Attributes,
  guarded: readonly PlannedField[],
  decide: Specialize = specialize,
): GraphqlPlanIR {
  const { limits, introspection, schema } = ir.graphql.settings;
  const names = guardedNames(guarded);
  return {
    rules: graphql.rules.map(({ rule, late }): PlannedGraphqlRule => ({
      rule: rule.id,
      operation: rule.operation,
      ...(rule.type !== undefined && { type: rule.type }),
      field: rule.field,
      onDeny: rule.onDeny,
      ...permission(rule.condition, attributes, late, decide),
    })),
    limits,
    introspection,
    default: ir.default,
    ...(schema && { schema }),
    ...(names.length > 0 && { guardedNames: names }),
  };
}

/** A permit needs *true*: a condition that is unknown and will stay so does not permit. */
function permission(
  condition: ConditionIR,
  attributes: Attributes,
  late: ReadonlySet<string>,
  decide: Specialize,
): { when?: Expression | false } {
  const left = decide(condition.expression, attributes, late, "permits");
  if (!left.known) return { when: left.residual };
  return left.verdict === true ? {} : { when: false };
}

/** The keys of masked fields, and the names that their conditions read below `item` and `response`. */
function guardedNames(fields: readonly PlannedField[]): readonly string[] {
  const names = fields.flatMap(({ keys, when }) => [...keys, ...(when === undefined ? [] : namesIn(when))]);
  return [...new Set(names)].sort();
}

function namesIn(expression: Expression): readonly string[] {
  return pathsIn(expression).flatMap((path) => path.slice(1));
}
