import type { GraphqlRuleIR, PathRuleIR, WebsocketConnectionIR } from "../../policy/index.ts";
import type { Decision } from "../types.ts";

/** A rule that can decide a request. */
export type DecidingRule = PathRuleIR | WebsocketConnectionIR | GraphqlRuleIR;

/**
 * @returns the rule that decided. For a denied operation that is the rule of the first denied field that has one, because
 *   the path rule, if any, permitted the request
 */
export function decidingRule({
  connection,
  rule,
  denials,
  graphqlErrors,
  snapshot,
}: Decision): DecidingRule | undefined {
  if (graphqlErrors === undefined) return connection ?? rule;
  const id = denials?.find((denied) => denied.rule !== undefined)?.rule;
  return snapshot?.ir.graphql.rules.find((candidate) => candidate.id === id);
}
