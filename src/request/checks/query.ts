import type { Reading } from "../reading.ts";
import { inQuery, type Finder } from "./check.ts";

/** A raw `;` separates parameters for some stacks (old HTML 4 advice) and is part of a value for others. */
export const querySeparator: Finder = ({ rawQuery }) =>
  rawQuery.includes(";") ? inQuery("a `;` in the query") : undefined;

/**
 * Two spellings that some stack reads as one parameter: `id` and `id[]` or `ID`, `user.id` and `user_id`. `a[x]` and
 * `a[y]` do not collide: stacks that interpret brackets read them as members of one `a`.
 */
export const parameterCollision: Finder = ({ decoded, rawParameters }) => {
  if (rawParameters.length < 2) return undefined;
  const plain = new Map<string, string>();
  const bracketed = new Set<string>();
  for (const [name] of decoded().parameters) {
    const folded = foldName(name);
    if (name.includes("[")) bracketed.add(folded);
    else if ((plain.get(folded) ?? name) !== name) return COLLISION;
    else plain.set(folded, name);
  }
  for (const folded of bracketed) if (plain.has(folded)) return COLLISION;
  return undefined;
};

const COLLISION = inQuery("two query parameters whose names some stacks treat as equal");

const FOLDED = /^[a-z0-9_-]*$/;

/**
 * Folds a name as the most aggressive stacks do: PHP trims it, replaces `.` and space with `_`, and cuts it before `[`,
 * as Rack and qs also do; ASP.NET ignores letter case.
 */
export function foldName(name: string): string {
  if (FOLDED.test(name)) return name;
  const bracket = name.indexOf("[", 1);
  const base = bracket < 0 ? name : name.slice(0, bracket);
  return base.replace(/^ +/, "").replace(/[. ]/g, "_").toLowerCase();
}

/** @returns whether the query has a parameter that folds to one of `names`. */
export function hasParameter({ decoded }: Reading, names: ReadonlySet<string>): boolean {
  return decoded().parameters.some(([name]) => names.has(foldName(name)));
}
