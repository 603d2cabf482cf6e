import { quoted } from "../../../text/index.ts";
import { errorAt } from "../finding.ts";
import type { ConditionCheck } from "../types.ts";

/** Beyond 2^53, neighbouring integers are the same double, so different ids would be equal. */
export const exactIntegers: ConditionCheck = (node) => {
  if (node.op !== "literal" || typeof node.value !== "number") return [];
  if (!Number.isInteger(node.value) || Number.isSafeInteger(node.value) || /e/i.test(node.text)) return [];
  const message = `${quoted(node.text)} is too large for an exact integer`;
  return [errorAt(node, "inexact-integer", message, "keep identifiers as strings")];
};
