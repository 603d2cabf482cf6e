import { foldedSpellings, foldSimple, remembered } from "./fold.ts";

/** The names that a rule reads of one object, with those below, and what else could be read as one of them. */
export interface MemberNames {
  readonly exact: ReadonlyMap<string, MemberNames>;
  /** Folded, each with what the rule reads. A path in one name (`user.role`) counts, too. */
  readonly folded: ReadonlyMap<string, string>;
}

interface Level extends MemberNames {
  readonly exact: Map<string, Level>;
  readonly folded: Map<string, string>;
}

const spellingsOf = remembered(foldedSpellings);

/** @param paths - what is read, from the value down; those without a name read no names */
export function memberNames(paths: Iterable<readonly string[]>): MemberNames {
  const root = emptyLevel();
  for (const path of paths) {
    let level = root;
    for (const [index, name] of path.entries()) {
      for (let end = index + 1; end <= path.length; end++) {
        const read = path.slice(index, end).join(".");
        level.folded.set(spellingsOf(read)[0] ?? "", read);
      }
      const below = level.exact.get(name) ?? emptyLevel();
      level.exact.set(name, below);
      level = below;
    }
  }
  return root;
}

function emptyLevel(): Level {
  return { exact: new Map(), folded: new Map() };
}

/**
 * Looks for a name that could be read as one of `names`. Where the rule expects an object and a list stands, nothing of
 * the list is what it reads, but some servers take a list of one for the one: every name in it that could be read is
 * similar.
 *
 * @param lists - `"strict"`: a list is never taken for an object, as in GraphQL
 * @returns what the rule reads
 */
export function similarMember(
  value: unknown,
  names: MemberNames,
  lists: "lax" | "strict" = "lax",
): string | undefined {
  if (names.folded.size === 0 || typeof value !== "object" || value === null) return undefined;
  if (!Array.isArray(value)) return inObject(value as Members, names, lists);
  return lists === "strict" ? undefined : inList(value, names);
}

type Members = Readonly<Record<string, unknown>>;

function inObject(object: Members, names: MemberNames, lists: "lax" | "strict"): string | undefined {
  for (const name of Object.keys(object)) {
    const below = names.exact.get(name);
    const read = below === undefined ? similarTo(name, names) : similarMember(object[name], below, lists);
    if (read !== undefined) return read;
  }
  return undefined;
}

function inList(list: readonly unknown[], names: MemberNames): string | undefined {
  for (const item of list) {
    if (typeof item !== "object" || item === null) continue;
    const read = Array.isArray(item)
      ? inList(item, names)
      : firstOf(Object.keys(item), (name) => (names.exact.has(name) ? name : similarTo(name, names)));
    if (read !== undefined) return read;
  }
  return undefined;
}

function similarTo(name: string, { folded }: MemberNames): string | undefined {
  const simple = foldSimple(name);
  if (simple !== undefined) return folded.get(simple);
  return firstOf(spellingsOf(name), (spelling) => folded.get(spelling));
}

function firstOf(names: readonly string[], find: (name: string) => string | undefined): string | undefined {
  for (const name of names) {
    const found = find(name);
    if (found !== undefined) return found;
  }
  return undefined;
}
