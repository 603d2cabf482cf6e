import type { JsonNode } from "../../json/index.ts";
import type { FieldAction } from "../plan.ts";

const HIDDEN = '"***"';
/** The number of characters that `partial` keeps. */
const SHOWN = 4;

/** If several fields match one member, the strictest that applies wins; among equally strict ones, the first. */
export const STRICTNESS = { remove: 5, null: 4, full: 3, replace: 2, partial: 1 } satisfies Record<
  FieldAction["kind"],
  number
>;

/** The JSON text that replaces a value, or `undefined` if its member is removed. */
export function replacementOf(action: FieldAction, node: JsonNode, text: string): string | undefined {
  switch (action.kind) {
    case "remove":
      return undefined;
    case "null":
      return "null";
    case "full":
      return HIDDEN;
    case "replace":
      // an unpaired surrogate is not text, and Lua could not write it
      return action.replacement.isWellFormed() ? JSON.stringify(action.replacement) : HIDDEN;
    case "partial":
      return partial(node, text);
  }
}

function partial(node: JsonNode, text: string): string {
  const shown =
    node.kind === "number"
      ? text.slice(node.start, node.stop)
      : node.kind === "string"
        ? String(node.value)
        : "";
  const characters = Array.from(shown);
  if (characters.length <= SHOWN || !shown.isWellFormed()) return HIDDEN;
  return JSON.stringify(`***${characters.slice(-SHOWN).join("")}`);
}
