import {
  explain,
  explainMatch,
  UNAVAILABLE,
  type Attributes,
  type FailingPart,
  type PathRuleIR,
  type TraceNode,
} from "../../policy/evaluation.ts";
import type { GraphqlDenial } from "../../graphql/index.ts";
import type { Reason } from "../../reasons.ts";
import { attributesFor } from "../attributes/attributes.ts";
import { ruleReference, type RuleReference } from "../policies/rule-reference.ts";
import type { Snapshot } from "../policies/snapshot.ts";
import type { Decision } from "../types.ts";

/** A rule with the verdict of its condition, part by part. */
export interface ExplainedRule extends RuleReference {
  readonly condition: TraceNode;
}

/** A GraphQL field that is not permitted, with the rule that denied it, if there is one. */
export interface DeniedField {
  /** Response keys, starting at the root field. */
  readonly path: readonly string[];
  readonly code: string;
  readonly message: string;
  readonly rule?: RuleReference;
}

/** Why a request got its decision. Plain JSON. */
export interface Explanation {
  /** The rule of `policies` or `web_policies`. */
  readonly rule?: ExplainedRule;
  /** The rule of `websocket_policies`, if the request is a handshake. */
  readonly connection?: ExplainedRule;
  /** GraphQL fields that are not permitted. */
  readonly denied?: readonly DeniedField[];
  /** Other rules that nearly matched, the closest first, with the first reason why each did not permit the request. */
  readonly near: readonly (RuleReference & { readonly failing: FailingPart })[];
}

/**
 * Explains a decision from its inputs: the same snapshot and the same attribute values. For a request refused before
 * any rule, there is nothing to explain beyond its reason and detail.
 */
export function explainDecision(decision: Decision): Explanation {
  const { snapshot, request, connection, denials, graphqlErrors } = decision;
  if (snapshot === undefined || request === undefined) return { near: [] };
  if (connection !== undefined) {
    // the attributes are those of the connection rule, if one was evaluated; path rules, if any, permitted before
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
    // an operation does not need a path rule
    near: isOperation ? [] : match.near.map(({ rule, failing }) => ({ ...ruleReference(rule), failing })),
  };
}

function deniedField({ path, code, message, rule: id }: GraphqlDenial, { graphql }: Snapshot): DeniedField {
  const found = graphql.rules.find(({ rule }) => rule.id === id);
  return { path, code, message, ...(found && { rule: ruleReference(found.rule) }) };
}

/** Reasons that come from a condition. */
const EVALUATED: readonly Reason[] = [
  "CONDITION_TRUE",
  "CONDITION_FALSE",
  "CONDITION_UNKNOWN",
  "CLAIM_OMITTED",
  "IDENTITY_REQUIRED",
];

/**
 * The attributes that a rule that did not decide would have had. Nothing is looked up or read for it, and only the
 * decision's own time is used: everything else is unavailable.
 */
function attributesOfOther(
  rule: PathRuleIR,
  params: Readonly<Record<string, string>>,
  { request, identity, clientIp, attributes, unknown }: Decision,
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
    ...(unknown && { unknown }),
    now: Date.now(),
    environment: "",
  });
  return {
    ...known,
    ...(needs.roots.has("env") && { env: attributes?.["env"] ?? UNAVAILABLE }),
    ...Object.fromEntries(needs.sources.map(({ root }) => [root, UNAVAILABLE])),
  };
}
