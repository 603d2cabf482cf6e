import { Kind, type FieldNode, type FragmentDefinitionNode, type SelectionSetNode } from "graphql";
import type { AttributePath } from "../policy/index.ts";
import type { Parents } from "./parents.ts";
import type { GraphqlEvent } from "./types.ts";
import type { Occurrence } from "./walk.ts";

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

interface DocumentScope {
  readonly fragments: Fragments;
  readonly parents: Parents;
}

/**
 * Finds the paths that a condition reads in a subscription's payload. All of them must be selected under their own
 * names: a field that is not delivered cannot be evaluated, and a renamed one would be confused with another.
 *
 * @param reads - paths below roots named after the payload
 * @returns the missing path, if one is missing
 */
export function eventOf(
  { node, fields }: Occurrence,
  reads: readonly AttributePath[],
  { fragments, parents }: DocumentScope,
): Pick<GraphqlEvent, "roots" | "members" | "paths"> | { readonly missing: string } {
  const delivered = node.selectionSet === undefined ? [] : [node.selectionSet];
  const roots = [...new Set(reads.map(([root = ""]) => root))];
  const type = fields[0]?.type;
  const top = fieldsIn(delivered, fragments);
  // use the type if there is one: the client chooses what is selected
  const members = roots.filter((root) =>
    type === undefined
      ? top.some(({ name, selectionSet }) => name.value === root && selectionSet !== undefined)
      : parents.hasField(type, root),
  );
  const paths = new Set<string>();
  for (const [root = "", ...keys] of reads) {
    const path = members.includes(root) ? [root, ...keys] : keys;
    if (!isSelected(path, delivered, fragments)) return { missing: path.join(".") };
    paths.add(path.join("."));
  }
  return { roots, members, paths: [...paths] };
}

function isSelected(
  path: readonly string[],
  delivered: readonly SelectionSetNode[],
  fragments: Fragments,
): boolean {
  let sets = delivered;
  for (const key of path) {
    const found = fieldsIn(sets, fragments).filter(({ name, alias }) => (alias ?? name).value === key);
    if (found.length === 0 || found.some(({ name }) => name.value !== key)) return false;
    sets = found.flatMap(({ selectionSet }) => selectionSet ?? []);
  }
  return true;
}

/** The fields of selection sets that merge into one, following each fragment once. */
function fieldsIn(sets: readonly SelectionSetNode[], fragments: Fragments): FieldNode[] {
  const found: FieldNode[] = [];
  const spread = new Set<string>();
  const collect = ({ selections }: SelectionSetNode): void => {
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) found.push(selection);
      else if (selection.kind === Kind.INLINE_FRAGMENT) collect(selection.selectionSet);
      else if (!spread.has(selection.name.value)) {
        spread.add(selection.name.value);
        const fragment = fragments.get(selection.name.value);
        if (fragment !== undefined) collect(fragment.selectionSet);
      }
    }
  };
  sets.forEach(collect);
  return found;
}
