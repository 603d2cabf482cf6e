import type { Value, ValueObject } from "../policy/value.ts";

/** A JSON object that every parser reads in the same way, or what is wrong with it. */
export type StrictJson =
  | {
      readonly ok: true;
      readonly value: ValueObject;
      /** The names of all its members, also of those whose value was left out. */
      readonly names: ReadonlySet<string>;
    }
  | { readonly ok: false; readonly detail: string };

/** More than any token needs, and far from the depth at which recursion fails. */
const MAX_DEPTH = 32;

/** Stands in place of a number whose text says more than the number holds. */
const INEXACT = Symbol("inexact");

/**
 * Parses a JSON object without the latitude of RFC 8259: duplicate members (section 4) are refused, and a number that
 * a double cannot hold as written (section 6) is left out together with the lists around it, so that two different
 * texts never become the same value. The result is frozen, and its objects have no prototype.
 */
export function parseStrictJson(text: string): StrictJson {
  const { members, depth } = measure(text);
  if (depth > MAX_DEPTH) return { ok: false, detail: `nested more than ${MAX_DEPTH} deep` };
  let parsed: unknown;
  try {
    parsed = JSON.parse(text, (_key, value: unknown, context?: { readonly source?: string }) =>
      typeof value === "number" && !isExact(value, context?.source ?? "") ? INEXACT : value,
    );
  } catch {
    return { ok: false, detail: "not JSON" };
  }
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) {
    return { ok: false, detail: "not a JSON object" };
  }
  // JSON.parse keeps the last of several members of one name, so fewer are left than were written
  if (countMembers(parsed) !== members) return { ok: false, detail: "a member is repeated" };
  return { ok: true, value: freezeObject(parsed), names: new Set(Object.keys(parsed)) };
}

/** Counts `:` outside strings, which in valid JSON is the number of members, and the deepest nesting. */
function measure(text: string): { readonly members: number; readonly depth: number } {
  let members = 0;
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (inString) {
      if (char === "\\") at++;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === ":") members++;
    else if (char === "{" || char === "[") deepest = Math.max(deepest, ++depth);
    else if (char === "}" || char === "]") depth--;
  }
  return { members, depth: deepest };
}

function countMembers(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const children = Object.values(value) as unknown[];
  const own = Array.isArray(value) ? 0 : children.length;
  return children.reduce<number>((count, child) => count + countMembers(child), own);
}

function freezeObject(object: object): ValueObject {
  const copy = Object.create(null) as Record<string, Value>;
  for (const [name, member] of Object.entries(object)) {
    const value = freezeValue(member);
    if (value !== undefined) copy[name] = value;
  }
  return Object.freeze(copy);
}

/** @returns `undefined` for what has to be left out: a list with a gap would be another list. */
function freezeValue(value: unknown): Value | undefined {
  if (value === INEXACT) return undefined;
  if (Array.isArray(value)) {
    const items = value.map(freezeValue);
    return items.every((item) => item !== undefined) ? Object.freeze(items) : undefined;
  }
  if (typeof value === "object" && value !== null) return freezeObject(value);
  return value as Value; // JSON.parse makes nothing else
}

function isExact(value: number, source: string): boolean {
  return decimal(source) === decimal(Number.isInteger(value) ? BigInt(value).toString() : String(value));
}

/** One spelling for each decimal number: digits without outer zeros, and the power of ten they stand for. */
function decimal(source: string): string {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(source) ?? [];
  const digits = `${whole}${fraction}`;
  let start = 0;
  let end = digits.length;
  while (start < end && digits[start] === "0") start++;
  while (end > start && digits[end - 1] === "0") end--;
  if (start === end) return "0";
  return `${sign}${digits.slice(start, end)}e${Number(exponent) - fraction.length + digits.length - end}`;
}
