import { quoted } from "../../text/index.ts";
import { placeName } from "../diagnostics/reporter.ts";
import { shapeOf } from "../pattern/shape.ts";
import type { YamlNode } from "../syntax/tree.ts";
import type { PolicySetCheck } from "./policy-set-check.ts";
import { placeOf } from "../syntax/place-of.ts";

/** Two rules with the same target: only one of them could ever take effect. */
export const duplicateRules: PolicySetCheck = (set, report) => {
  const seen = new Map<string, YamlNode>();
  const once = (key: readonly string[], node: YamlNode, what: string) => {
    const name = JSON.stringify(key);
    const first = seen.get(name);
    if (first === undefined) {
      seen.set(name, node);
    } else if (first !== node) {
      report.error(
        placeOf(node),
        "duplicate-rule",
        `duplicate rule for ${what}; first defined at ${placeName(placeOf(first))}`,
      );
    } else {
      report.error(placeOf(node), "duplicate-rule", `duplicate rule for ${what}: an alias repeats it`);
    }
  };
  for (const { section, pattern } of set.rules) {
    const what = section === "policies" ? `${pattern.method} ${pattern.text}` : pattern.text;
    once([section, pattern.method, shapeOf(pattern.segments)], pattern.node, quoted(what));
  }
  for (const { operation, type = "", field, target } of set.graphql) {
    once(["graphql", operation, type, field], target, `the ${operation} ${quoted(target.text)}`);
  }
  for (const { pattern } of set.connections) {
    once(["connection", shapeOf(pattern.segments)], pattern.node, `the connection ${quoted(pattern.text)}`);
  }
  for (const { pattern, direction, type } of set.messages) {
    const key = ["message", shapeOf(pattern.segments), direction, type.text];
    once(key, type, `the message type ${quoted(type.text)}`);
  }
};
