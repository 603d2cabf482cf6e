import type { Reporter } from "../diagnostics/reporter.ts";
import type { YamlNode } from "../syntax/tree.ts";
import { CHOICES, RULE_KEYS } from "./keys.ts";
import { readChoice, readFields, readString, type Fields } from "./reader.ts";

const MAX_NAME_LENGTH = 200;

/** The parts that every rule has. */
export interface RuleHead {
  readonly node: YamlNode;
  readonly name: string | undefined;
  readonly auditRequired: boolean;
}

/** Reads an entry of a section: its fields, and the parts that every rule has. */
export function readRule(
  report: Reporter,
  node: YamlNode,
  what: string,
  keys: readonly string[],
): { fields: Fields; head: RuleHead } | undefined {
  const fields = readFields(report, node, what, [...keys, ...RULE_KEYS]);
  if (fields === undefined) return undefined;
  const name = fields.get("name");
  const head = {
    node,
    name: name && readName(report, name),
    auditRequired: readAudit(report, fields.get("audit")),
  };
  return { fields, head };
}

/** @returns true if it says `required` */
export function readAudit(report: Reporter, node: YamlNode | undefined): boolean {
  return node !== undefined && readChoice(report, node, "`audit`", CHOICES.audit) === "required";
}

function readName(report: Reporter, node: YamlNode): string | undefined {
  const scalar = readString(report, node, "`name`");
  if (scalar === undefined) return undefined;
  if (scalar.text.length <= MAX_NAME_LENGTH) return scalar.text;
  report.error(scalar, "invalid-value", `\`name\` is longer than ${MAX_NAME_LENGTH} characters`);
  return undefined;
}
