import type { JsonNode, JsonObjectNode } from "../../json/index.ts";
import type { GraphqlErrorIR } from "../plan.ts";
import { applyEdits, type Edit } from "./edits.ts";

/**
 * Appends entries to the root's `errors` (GraphQL specification, section 7.1.2). If the member occurs twice, to each;
 * if it is not an array, in its place; if there is none, in a new last member.
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

/** Writes members in the same order as Lua. */
function entryText({ message, path, extensions: { code } }: GraphqlErrorIR): string {
  return JSON.stringify({ message, ...(path === undefined ? {} : { path }), extensions: { code } });
}
