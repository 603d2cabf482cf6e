import type { JsonNode } from "../../json/index.ts";

/**
 * Members of the result of an operation (GraphQL specification, section 7.1). Others (`incremental`, `patch`, `payload`)
 * can carry data at places that neither rules for fields nor conditions on events look at.
 */
const MEMBERS: ReadonlySet<string> = new Set(["data", "errors", "extensions"]);

/** @returns whether an object with these members can be the complete result of an operation */
export function isResult(names: readonly string[]): boolean {
  return names.every((name) => MEMBERS.has(name));
}

/** @returns whether a document is the result of an operation, or a list of them, which answers a batch */
export function isAnswer(root: JsonNode): boolean {
  const results = root.kind === "array" ? root.items : [root];
  return results.every((one) => one.kind === "object" && isResult(one.members.map(({ name }) => name)));
}
