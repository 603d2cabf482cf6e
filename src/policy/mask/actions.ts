import type { JsonNode } from "../../json/index.ts";
import type { FieldAction } from "../plan.ts";

const HIDDEN = '"***"';
/** Characters that `partial` leaves. */
const SHOWN = 4;

/** Where several fields hit one member, the strictest that applies wins; of equally strict ones, the first. */
export const STRICTNESS = { remove: 5, null: 4, full: 3, replace: 2, partial: 1 } satisfies Record<
  FieldAction["kind"],
  number
>;

/** The JSON text in place of a value, or `undefined` where its member is removed. */
export function replacementOf(action: FieldAction, node: JsonNode, text: string): string | undefined {
  switch (action.kind) {
    case "remove":
      return undefined;
    case "null":
      return "null";
    case "full":
      return HIDDEN;
    case "replace":
      // half a surrogate pair is no text, and Lua could not write it
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
