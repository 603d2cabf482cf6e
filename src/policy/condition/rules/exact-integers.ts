import { quoted } from "../../../text/index.ts";
import { errorAt } from "../finding.ts";
import type { ConditionCheck } from "../types.ts";

/** Beyond 2^53, neighbouring integers are the same double: an id would equal another one. */
export const exactIntegers: ConditionCheck = (node) => {
  if (node.op !== "literal" || typeof node.value !== "number") return [];
  if (!Number.isInteger(node.value) || Number.isSafeInteger(node.value) || /e/i.test(node.text)) return [];
  const message = `${quoted(node.text)} is too large to be told from the integers next to it`;
  return [errorAt(node, "inexact-integer", message, "keep identifiers as strings")];
};
