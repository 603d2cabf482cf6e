import type { ConditionIR, PolicySetIR, ResponseFieldIR, SourcePosition } from "../ir.ts";

/**
 * Prints a set's meaning as JSON with sorted keys. Two sets with the same rules, by name and in the same order, print
 * the same. Layout, comments, positions and the spelling of conditions are left out. Used for digests; never parsed.
 */
export function canonicalContent(ir: PolicySetIR): string {
  return sortedJson({
    ...ir,
    rules: ir.rules.map(ruleContent),
    responses: ir.responses.map((rule) => ({ ...withoutPlace(rule), fields: fieldsContent(rule) })),
    graphql: { ...ir.graphql, rules: ir.graphql.rules.map(ruleContent) },
    websocket: {
      // messages in a list of their own, so that the digest of a set equals the one in earlier records
      connections: ir.websocket.connections.map(({ messages, ...rule }) => ruleContent(rule)),
      messages: ir.websocket.connections.flatMap(({ messages }) =>
        messages.map((rule) => ({ ...ruleContent(rule), fields: fieldsContent(rule) })),
      ),
    },
  });
}

function ruleContent(rule: { readonly at: SourcePosition; readonly condition: ConditionIR }): object {
  return { ...withoutPlace(rule), condition: rule.condition.expression };
}

function fieldsContent({ fields }: { readonly fields: readonly ResponseFieldIR[] }): readonly object[] {
  return fields.map(ruleContent);
}

function withoutPlace(rule: { readonly at: SourcePosition }): object {
  return { ...rule, at: undefined };
}

/** JSON with the keys of every object in code unit order; members that are undefined are left out. */
function sortedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sortedJson).join()}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${sortedJson(member)}`);
  return `{${members.join()}}`;
}
