import type { AttributePath } from "../ir.ts";
import { isList, isObject } from "../../json/index.ts";
import { UNAVAILABLE, type Attributes, type Value, type Verdict } from "../value.ts";

/** The value of an operand; `undefined` if it cannot be compared. */
export type Operand = Value | undefined;

/**
 * Looks up an attribute. Only own members of objects count; lists and scalars have no members.
 *
 * @returns the value; `undefined` if it is missing; UNAVAILABLE if it or a parent is unavailable
 */
export function readAttribute(
  path: AttributePath,
  attributes: Attributes,
): Value | typeof UNAVAILABLE | undefined {
  if (path.length === 0) return undefined;
  let current: unknown = attributes;
  for (const key of path) {
    if (!isObject(current) || !Object.hasOwn(current, key)) return undefined;
    current = current[key];
    if (current === UNAVAILABLE) return UNAVAILABLE; // a source may also set it below the root
  }
  return current as Value | undefined;
}

/**
 * Accepts values that can be compared. Everything else is unknown to every operator: missing and unavailable values,
 * numbers that are not finite, and strings with an unpaired surrogate, which UTF-8 (and so Lua) cannot represent.
 */
export function operandOf(value: unknown): Operand {
  switch (typeof value) {
    case "string":
      return value.isWellFormed() ? value : undefined;
    case "number":
      return Number.isFinite(value) ? value : undefined;
    case "boolean":
      return value;
    case "object":
      return value as Operand;
    default:
      return undefined;
  }
}

/**
 * The value of an attribute as an operand. A query parameter or header sent once is its value. Sent several times, it
 * is unknown, because the application may use any of the values.
 */
export function attributeOperand(path: AttributePath, attributes: Attributes): Operand {
  const value = operandOf(readAttribute(path, attributes));
  if (!isList(value) || !isSentSeveralTimes(path)) return value;
  return value.length === 1 ? operandOf(value[0]) : undefined;
}

/**
 * Whether an attribute is a list because a request may contain it several times: `request.query.x`,
 * `request.headers.x`.
 */
export function isSentSeveralTimes(path: AttributePath): boolean {
  return path.length === 3 && path[0] === "request" && (path[1] === "query" || path[1] === "headers");
}

/** Compares scalars of one type. null differs from everything else; equality with a list or an object is unknown. */
export function equal(a: Operand, b: Operand): Verdict {
  if (a === undefined || b === undefined) return undefined;
  if (a === null || b === null) return a === b;
  if (typeof a !== typeof b || typeof a === "object") return undefined;
  return a === b;
}

/** Orders two numbers, or two strings by code point. @returns whether `a operator b` holds */
export function ordered(operator: "<" | "<=" | ">" | ">=", a: Operand, b: Operand): Verdict {
  let difference: number;
  if (typeof a === "number" && typeof b === "number") difference = a < b ? -1 : a > b ? 1 : 0;
  else if (typeof a === "string" && typeof b === "string") difference = compareCodePoints(a, b);
  else return undefined;
  switch (operator) {
    case "<":
      return difference < 0;
    case "<=":
      return difference <= 0;
    case ">":
      return difference > 0;
    case ">=":
      return difference >= 0;
  }
}

/** `value == item` for any of `items`: true if one is true, else unknown if one is unknown. */
export function anyEqual<Item>(
  value: Operand,
  items: readonly Item[],
  operandOfItem: (item: Item) => Operand,
): Verdict {
  let verdict: Verdict = false;
  for (const item of items) {
    const same = equal(value, operandOfItem(item));
    if (same === true) return true;
    if (same === undefined) verdict = undefined;
  }
  return verdict;
}

/**
 * The order of code points, which is that of UTF-8 bytes. The order of UTF-16 units differs: surrogates, which encode
 * the highest code points, sort before U+E000.
 */
export function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const left = a.charCodeAt(index);
    const right = b.charCodeAt(index);
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
}

function rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}
