import type { JsonNode, JsonObjectNode } from "../../json/index.ts";
import type { GraphqlErrorIR } from "../plan.ts";
import { applyEdits, type Edit } from "./edits.ts";

/**
 * Adds entries at the end of the root's `errors` (GraphQL specification, section 7.1.2): of each, where it stands twice;
 * instead of what is no array; in a new last member, where there is none.
 */
export function addErrors(text: string, root: JsonObjectNode, errors: readonly GraphqlErrorIR[]): string {
  const entries = errors.map(entryText).join(",");
  const edits = root.members
    .filter(({ name }) => name === "errors")
    .map(({ value }) =>
      value.kind === "array"
        ? appended(value, value.items.at(-1), entries)
        : { start: value.start, stop: value.stop, text: `[${entries}]` },
    );
  if (edits.length === 0) edits.push(appended(root, root.members.at(-1)?.value, `"errors":[${entries}]`));
  return applyEdits(text, edits);
}

function appended(container: JsonNode, last: JsonNode | undefined, text: string): Edit {
  return last === undefined
    ? { start: container.start + 1, stop: container.start + 1, text }
    : { start: last.stop, stop: last.stop, text: `,${text}` };
}

/** With members in the order that Lua writes. */
function entryText({ message, path, extensions: { code } }: GraphqlErrorIR): string {
  return JSON.stringify({ message, ...(path === undefined ? {} : { path }), extensions: { code } });
}
