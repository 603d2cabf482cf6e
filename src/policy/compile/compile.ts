import { compileCondition } from "../condition/index.ts";
import {
  IR_VERSION,
  type AttributeRootIR,
  type ConditionIR,
  type GraphqlRuleIR,
  type PathRuleIR,
  type PolicySetIR,
  type ResponseFieldIR,
  type ResponseRuleIR,
  type SourcePosition,
  type WebsocketConnectionIR,
  type WebsocketMessageIR,
} from "../ir.ts";
import {
  GRAPHQL_DEFAULTS,
  type ConditionSource,
  type ConnectionSource,
  type GraphqlRuleSource,
  type HeadSource,
  type MessageSource,
  type PathRuleSource,
  type PolicySetSource,
  type ResponseFieldSource,
  type ResponseRuleSource,
} from "../read/index.ts";
import type { YamlNode } from "../syntax/tree.ts";

/**
 * Compiles a policy set in which no check found an error.
 *
 * @param fallbackName - the name of a set whose head has none
 */
export function compileSource(source: PolicySetSource, fallbackName: string): PolicySetIR {
  const { head, schema, documents } = source;
  return {
    ir: IR_VERSION,
    name: head.name ?? fallbackName,
    version: head.version ?? "v0",
    default: head.default ?? "deny",
    preflight: head.preflight ?? "deny",
    ...(head.cors && { cors: head.cors }),
    auditRequired: head.auditRequired ?? false,
    attributes: compileAttributes(head),
    rules: source.rules.map(compilePathRule),
    responses: source.responses.map(compileResponseRule),
    graphql: {
      settings: {
        ...(head.graphql?.settings ?? GRAPHQL_DEFAULTS),
        ...(schema && { schema }),
        ...(documents && { documents }),
      },
      rules: source.graphql.map(compileGraphqlRule),
    },
    websocket: { connections: source.connections.map(compileConnection) },
  };
}

function compileAttributes({ attributes = [] }: HeadSource): Record<string, AttributeRootIR> {
  return Object.fromEntries(
    attributes.map(({ name, types, lookup }) => [
      name,
      lookup === undefined ? { types } : { types, source: { name: lookup.source, key: lookup.key } },
    ]),
  );
}

/** @returns the intermediate form of a path rule. */
export function compilePathRule(rule: PathRuleSource): PathRuleIR {
  const { section, pattern, condition } = rule;
  return {
    ...common(rule),
    section,
    ...path(pattern),
    method: pattern.method,
    condition: compileOne(condition),
  };
}

function compileResponseRule(rule: ResponseRuleSource): ResponseRuleIR {
  const { section, pattern, fields, otherTypes } = rule;
  return {
    ...common(rule),
    section,
    ...path(pattern),
    method: pattern.method,
    fields: fields.map(compileField),
    ...(otherTypes === "pass" && { otherTypes }),
  };
}

function compileField({ field, action, condition, node }: ResponseFieldSource): ResponseFieldIR {
  return { field, action, condition: compileOne(condition), at: positionOf(node) };
}

function compileGraphqlRule(rule: GraphqlRuleSource): GraphqlRuleIR {
  const { section, operation, type, field, condition, onDeny } = rule;
  const guarded = type === undefined ? { field } : { type, field };
  return { ...common(rule), section, operation, ...guarded, condition: compileOne(condition), onDeny };
}

function compileConnection(rule: ConnectionSource): WebsocketConnectionIR {
  const { section, pattern, condition, messages } = rule;
  return {
    ...common(rule),
    section,
    ...path(pattern),
    condition: compileOne(condition),
    messages: messages.map(compileMessage),
  };
}

function compileMessage(rule: MessageSource): WebsocketMessageIR {
  const { section, pattern, type, direction, condition, onDeny, fields } = rule;
  return {
    ...common(rule),
    section,
    ...path(pattern),
    type: type.text,
    direction,
    condition: compileOne(condition),
    onDeny,
    fields: fields.map(compileField),
  };
}

interface Named {
  readonly id: string;
  readonly name: string | undefined;
  readonly node: YamlNode;
  readonly auditRequired: boolean;
}

function common({ id, name, node, auditRequired }: Named) {
  return { id, ...(name !== undefined && { name }), at: positionOf(node), auditRequired };
}

function path({ text, segments }: ConnectionSource["pattern"]) {
  return { pattern: text, segments };
}

function compileOne({ ast, text }: ConditionSource): ConditionIR {
  return compileCondition(ast, text);
}

function positionOf({ source, start }: YamlNode): SourcePosition {
  return { file: source.file, ...source.position(start) };
}
