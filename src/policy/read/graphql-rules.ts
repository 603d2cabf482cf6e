import { quoted } from "../../text/index.ts";
import { type Reporter } from "../diagnostics/reporter.ts";
import type { YamlNode } from "../syntax/tree.ts";
import { readCondition } from "./condition.ts";
import { ENTRY_KEYS, OPERATIONS } from "./keys.ts";
import type { GraphqlRuleSource } from "./policy-source.ts";
import { placeOfKey, readChoice, readString, type Fields } from "./reader.ts";
import { readRule } from "./rule.ts";
import { placeOf } from "../syntax/place-of.ts";

type Operation = (typeof OPERATIONS)[number];

/** `Type.field` or a root field; names as in the GraphQL specification, section 2.1.9. */
const TARGET = /^(?:([_A-Za-z][_0-9A-Za-z]*)\.)?([_A-Za-z][_0-9A-Za-z]*)$/;

/** Reads an entry of `graphql_policies`. */
export function readGraphqlRule(report: Reporter, node: YamlNode, id: string): GraphqlRuleSource | undefined {
  const rule = readRule(report, node, "a GraphQL policy", ENTRY_KEYS.graphql_policies);
  if (rule === undefined) return undefined;
  const { fields } = rule;
  const guarded = readGuarded(report, fields);
  const condition = readCondition(report, fields);
  const onDeny = readOnDeny(report, fields, guarded?.operation);
  if (guarded === undefined || condition === undefined || onDeny === undefined) return undefined;
  return { section: "graphql_policies", id, ...rule.head, ...guarded, condition, onDeny };
}

function readGuarded(
  report: Reporter,
  fields: Fields,
): Pick<GraphqlRuleSource, "operation" | "target" | "type" | "field"> | undefined {
  const [operation, ...others] = OPERATIONS.filter((key) => fields.get(key) !== undefined);
  const node = operation && fields.get(operation);
  if (operation === undefined || node === undefined) {
    const message = "a GraphQL policy must have one of `query`, `mutation` and `subscription`";
    report.error(placeOf(fields.node), "missing-key", message);
    return undefined;
  }
  for (const other of others) {
    const message = `a GraphQL policy cannot have both ${quoted(operation)} and ${quoted(other)}`;
    report.error(placeOfKey(fields, other), "unexpected-key", message, "write two entries");
  }
  const target = readString(report, node, quoted(operation));
  if (target === undefined) return undefined;
  const [, type, field] = TARGET.exec(target.text) ?? [];
  if (field !== undefined) return { operation, target, type, field };
  report.error(
    placeOf(target),
    "invalid-field",
    `${quoted(target.text)} is not a valid GraphQL field`,
    "write a root field, or `Type.field`",
  );
  return undefined;
}

function readOnDeny(
  report: Reporter,
  fields: Fields,
  operation: Operation | undefined,
): "reject" | "null" | undefined {
  const node = fields.get("on_deny");
  if (node === undefined) return "reject";
  const onDeny = readChoice(report, node, "`on_deny`", ["reject", "null"]);
  if (onDeny !== "null" || operation === undefined || operation === "query") return onDeny;
  report.error(
    placeOf(node),
    "invalid-value",
    `\`on_deny: null\` is not possible for a ${operation}`,
    "write `on_deny: reject`",
  );
  return undefined;
}
