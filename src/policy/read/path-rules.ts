import type { Reporter } from "../diagnostics/reporter.ts";
import type { YamlNode } from "../syntax/tree.ts";
import { readCondition } from "./condition.ts";
import { ENTRY_KEYS } from "./keys.ts";
import { readPattern, type PatternForm } from "./pattern.ts";
import type { PathRuleSource } from "./policy-source.ts";
import { readRule } from "./rule.ts";

type Section = PathRuleSource["section"];

const FORMS: Readonly<Record<Section, { what: string; key: string; form: PatternForm }>> = {
  policies: {
    what: "a policy",
    key: "resource",
    form: { method: "required", wildcards: "rest" },
  },
  web_policies: {
    what: "a web policy",
    key: "path",
    form: { method: "none", wildcards: "web" },
  },
};

/** Reads an entry of `policies` or `web_policies`. */
export function readPathRule(
  report: Reporter,
  node: YamlNode,
  section: Section,
  id: string,
): PathRuleSource | undefined {
  const { what, key, form } = FORMS[section];
  const rule = readRule(report, node, what, ENTRY_KEYS[section]);
  if (rule === undefined) return undefined;
  const path = rule.fields.require(key);
  const pattern = path && readPattern(report, path, `\`${key}\``, form);
  const condition = readCondition(report, rule.fields);
  return pattern && condition && { section, id, ...rule.head, pattern, condition };
}
