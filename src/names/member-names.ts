import { readAs, spellingsOf, type Spellings } from "./spellings.ts";

/** The names that a rule reads in one object and below; finds other spellings that could be read as one of them. */
export interface MemberNames {
  readonly exact: ReadonlyMap<string, MemberNames>;
  /** A path in one name (`user.role`) counts, too. */
  readonly spellings: Spellings;
}

/** @param paths - what is read, from the value down; empty paths read no names */
export function memberNames(paths: Iterable<readonly string[]>): MemberNames {
  const below = new Map<string, (readonly string[])[]>();
  const read: string[] = [];
  for (const path of paths) {
    const [name, ...others] = path;
    if (name === undefined) continue;
    for (let end = 1; end <= path.length; end++) read.push(path.slice(0, end).join("."));
    below.set(name, [...(below.get(name) ?? []), others]);
  }
  const exact = new Map(Array.from(below, ([name, others]) => [name, memberNames(others)] as const));
  return { exact, spellings: spellingsOf(read) };
}

/**
 * The objects of one request that have been checked. The same variables are arguments of many fields, and rules read the same
 * names in them, so an object is checked once for the same names. Also counts the names.
 */
export class LookedAt {
  readonly #names = new Map<object, Set<MemberNames>>();
  /** Number of names checked. */
  count = 0;

  /** @returns false if the object has been checked for these names and has none that could be read as one of them. */
  isNew(object: object, names: MemberNames): boolean {
    const known = this.#names.get(object);
    if (known?.has(names)) return false;
    if (known) known.add(names);
    else this.#names.set(object, new Set([names]));
    return true;
  }
}

export interface LookOptions {
  /** `"strict"`: a list is never treated as an object, as in GraphQL. Default: `"lax"`. */
  readonly lists?: "lax" | "strict";
  /** Absent: no cache is used. */
  readonly lookedAt?: LookedAt;
}

/**
 * Finds a name that could be read as one of `names`. If the rule expects an object and there is a list, the rule reads nothing
 * in it, but some servers treat a list of one item as that item: then every matching name in it counts as similar.
 *
 * @returns the name that the rule reads
 */
export function similarMember(
  value: unknown,
  names: MemberNames,
  options: LookOptions = {},
): string | undefined {
  if (names.exact.size === 0 || typeof value !== "object" || value === null) return undefined;
  if (!Array.isArray(value)) return inObject(value as Members, names, options);
  return options.lists === "strict" ? undefined : inList(value, names);
}

type Members = Readonly<Record<string, unknown>>;

function inObject(object: Members, names: MemberNames, options: LookOptions): string | undefined {
  if (options.lookedAt?.isNew(object, names) === false) return undefined;
  const all = Object.keys(object);
  if (options.lookedAt) options.lookedAt.count += all.length;
  for (const name of all) {
    const below = names.exact.get(name);
    const read =
      below === undefined ? readAs(name, names.spellings) : similarMember(object[name], below, options);
    if (read !== undefined) return read;
  }
  return undefined;
}

function inList(list: readonly unknown[], names: MemberNames): string | undefined {
  for (const item of list) {
    if (typeof item !== "object" || item === null) continue;
    const read = Array.isArray(item) ? inList(item, names) : inItem(item as Members, names);
    if (read !== undefined) return read;
  }
  return undefined;
}

function inItem(item: Members, { exact, spellings }: MemberNames): string | undefined {
  for (const name of Object.keys(item)) {
    const read = exact.has(name) ? name : readAs(name, spellings);
    if (read !== undefined) return read;
  }
  return undefined;
}
