import {
  explain,
  explainMatch,
  UNAVAILABLE,
  type Attributes,
  type FailingPart,
  type PathRuleIR,
  type TraceNode,
} from "../../policy/index.ts";
import type { GraphqlDenial } from "../../graphql/index.ts";
import type { Reason } from "../../reasons.ts";
import { attributesFor } from "../attributes/attributes.ts";
import { ruleReference, type RuleReference } from "../policies/rule-reference.ts";
import type { Snapshot } from "../policies/snapshot.ts";
import type { Decision } from "../types.ts";

/** A rule, and what its condition came to, part by part. */
export interface ExplainedRule extends RuleReference {
  readonly condition: TraceNode;
}

/** A field of a GraphQL operation that is not permitted, and the rule that denied it, where one did. */
export interface DeniedField {
  /** Response keys from the root field on. */
  readonly path: readonly string[];
  readonly code: string;
  readonly message: string;
  readonly rule?: RuleReference;
}

/** Why a request was decided as it was. Plain JSON. */
export interface Explanation {
  /** Of `policies` or `web_policies`. */
  readonly rule?: ExplainedRule;
  /** Of `websocket_policies`, where a handshake was evaluated. */
  readonly connection?: ExplainedRule;
  /** Fields of a GraphQL operation that are not permitted. */
  readonly denied?: readonly DeniedField[];
  /** Other rules that came close, the closest first, and what first kept each from permitting the request. */
  readonly near: readonly (RuleReference & { readonly failing: FailingPart })[];
}

/**
 * Explains a decision from what it was made of: the same snapshot, the same attribute values. A request that was
 * refused before any rule was looked at has nothing to explain beyond its reason and detail.
 */
export function explainDecision(decision: Decision): Explanation {
  const { snapshot, request, connection, denials, graphqlErrors } = decision;
  if (snapshot === undefined || request === undefined) return { near: [] };
  if (connection !== undefined) {
    // the attributes are the connection's where it was evaluated; path rules, if there are any, have permitted before
    const { attributes } = decision;
    if (attributes === undefined || !EVALUATED.includes(decision.reason)) return { near: [] };
    const trace = explain(connection.condition.expression, attributes);
    return { connection: { ...ruleReference(connection), condition: trace }, near: [] };
  }
  const match = explainMatch(snapshot.matcher, request.method, request.segments, (rule, params) =>
    rule === decision.rule && decision.attributes !== undefined
      ? decision.attributes
      : attributesOfOther(rule, params, decision, snapshot),
  );
  const isOperation = graphqlErrors !== undefined || decision.reason.startsWith("GRAPHQL_");
  const decided = match.match.kind === "rule" ? match.match.rule : undefined;
  return {
    ...(decided !== undefined &&
      match.trace !== undefined && { rule: { ...ruleReference(decided), condition: match.trace } }),
    ...(denials && { denied: denials.map((denial) => deniedField(denial, snapshot)) }),
    // an operation needs no path rule
    near: isOperation ? [] : match.near.map(({ rule, failing }) => ({ ...ruleReference(rule), failing })),
  };
}

function deniedField({ path, code, message, rule: id }: GraphqlDenial, { graphql }: Snapshot): DeniedField {
  const found = graphql.rules.find(({ rule }) => rule.id === id);
  return { path, code, message, ...(found && { rule: ruleReference(found.rule) }) };
}

/** Reasons that a condition gave. */
const EVALUATED: readonly Reason[] = [
  "CONDITION_TRUE",
  "CONDITION_FALSE",
  "CONDITION_UNKNOWN",
  "IDENTITY_REQUIRED",
];

/**
 * What a rule that did not decide would have seen. Nothing is looked up or read for it, and no other time than that of
 * the decision is shown: that stays unavailable.
 */
function attributesOfOther(
  rule: PathRuleIR,
  params: Readonly<Record<string, string>>,
  { request, identity, clientIp, attributes }: Decision,
  snapshot: Snapshot,
): Attributes {
  const needs = snapshot.needs.get(rule);
  if (needs === undefined || request === undefined) return {};
  const known = attributesFor(needs, {
    request,
    params,
    identity,
    clientIp,
    body: undefined,
    now: Date.now(),
    environment: "",
  });
  return {
    ...known,
    ...(needs.roots.has("env") && { env: attributes?.["env"] ?? UNAVAILABLE }),
    ...Object.fromEntries(needs.sources.map(({ root }) => [root, UNAVAILABLE])),
  };
}
