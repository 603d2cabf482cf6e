import type {
  ConditionIR,
  GraphqlRuleIR,
  PathRuleIR,
  PolicySetIR,
  ResponseFieldIR,
  ResponseRuleIR,
  SourcePosition,
  WebsocketConnectionIR,
  WebsocketMessageIR,
} from "./ir.ts";

export type RuleOfSet =
  PathRuleIR | ResponseRuleIR | GraphqlRuleIR | WebsocketConnectionIR | WebsocketMessageIR;

/** A condition of a compiled policy set, with its position. */
export interface PlacedCondition {
  readonly rule: RuleOfSet;
  readonly condition: ConditionIR;
  /** The position of the rule, or of the field that it masks. */
  readonly at: SourcePosition;
}

/** @returns every rule of the set, from all sections; rule counts count these */
export function rulesOf({ rules, responses, graphql, websocket }: PolicySetIR): readonly RuleOfSet[] {
  const { connections } = websocket;
  const messages = connections.flatMap((connection) => connection.messages);
  return [...rules, ...responses, ...graphql.rules, ...connections, ...messages];
}

/** @returns every condition of the set. */
export function conditionsOfSet(ir: PolicySetIR): PlacedCondition[] {
  return rulesOf(ir).flatMap((rule) => [
    ...("condition" in rule ? [{ rule, condition: rule.condition, at: rule.at }] : []),
    ...fieldsOf(rule).map(({ condition, at }) => ({ rule, condition, at })),
  ]);
}

function fieldsOf(rule: RuleOfSet): readonly ResponseFieldIR[] {
  return "fields" in rule ? rule.fields : [];
}
