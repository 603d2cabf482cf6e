import {
  pathsIn,
  specialize,
  type Attributes,
  type ConditionIR,
  type Expression,
  type GraphqlErrorIR,
  type GraphqlPlanIR,
  type PlanIR,
  type PlannedField,
  type PlannedGraphqlRule,
  type PlannedMessage,
  type ResponseFieldIR,
  type WebsocketMessageIR,
} from "../../policy/index.ts";
import type { PreparedGraphql, Snapshot } from "../policies/snapshot.ts";

/** Known only with the answer. */
const WITH_RESPONSE: ReadonlySet<string> = new Set(["item", "response"]);
/** Known only with the message; the time is that of the message, too. */
const WITH_MESSAGE: ReadonlySet<string> = new Set(["message", "env"]);

/** @returns the fields that a response rule may still change. It is left alone only where its condition is false. */
export function planFields(
  rule: string,
  fields: readonly ResponseFieldIR[],
  attributes: Attributes,
): readonly PlannedField[] {
  return fields.flatMap(({ field, action, condition }) => {
    const left = specialize(condition.expression, attributes, WITH_RESPONSE);
    if (left.known && left.verdict === false) return [];
    return { rule, ...field, action, ...(left.known ? {} : { when: left.residual }) };
  });
}

/**
 * @param options.errors - added to a GraphQL answer
 * @param options.othersPass - answers of other types pass; never where an operation was evaluated, whose answer is JSON
 * @returns the plan of an answer; none where nothing is changed in it
 */
export function planAnswer(
  limit: number,
  fields: readonly PlannedField[],
  options: { readonly errors?: readonly GraphqlErrorIR[]; readonly othersPass?: boolean } = {},
): Pick<PlanIR, "response"> {
  const { errors = [], othersPass = false } = options;
  if (fields.length === 0) return {};
  const others = othersPass ? ({ otherTypes: "pass" } as const) : {};
  return { response: { limit, fields, ...others, ...(errors.length > 0 && { errors }) } };
}

/** @returns what decides about messages of one direction, by type; `undefined` where no type is listed. */
export function planMessages(
  messages: readonly WebsocketMessageIR[],
  direction: WebsocketMessageIR["direction"],
  attributes: Attributes,
): Readonly<Record<string, PlannedMessage>> | undefined {
  const listed = messages.filter((message) => message.direction === direction);
  if (listed.length === 0) return undefined;
  return Object.fromEntries(
    listed.map(({ id, type, condition, onDeny, fields }) => {
      const planned = planFields(id, fields, attributes);
      const message: PlannedMessage = {
        rule: id,
        ...permission(condition, attributes, WITH_MESSAGE),
        onDeny,
        ...(planned.length > 0 && { fields: planned }),
      };
      return [type, message];
    }),
  );
}

/**
 * @param guarded - response rules of every set that apply at the endpoint: the names they look for cannot be given or
 *   taken by an alias
 * @returns what decides about the operations of one request, or of one connection
 */
export function planGraphql(
  { ir, graphql }: Pick<Snapshot, "ir"> & { readonly graphql: PreparedGraphql },
  attributes: Attributes,
  guarded: readonly PlannedField[],
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
      ...permission(rule.condition, attributes, late),
    })),
    limits,
    introspection,
    default: ir.default,
    ...(schema && { schema }),
    ...(names.length > 0 && { guardedNames: names }),
  };
}

/** A permit needs *true*: what is unknown now and always will be is none. */
function permission(
  condition: ConditionIR,
  attributes: Attributes,
  late: ReadonlySet<string>,
): { when?: Expression | false } {
  const left = specialize(condition.expression, attributes, late);
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
