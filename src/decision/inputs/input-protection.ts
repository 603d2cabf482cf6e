import { isList, isObject } from "../../json/index.ts";
import { operandOf, type AttributePath, type Value } from "../../policy/evaluation.ts";
import { isSensitiveName, sanitize } from "../../text/index.ts";
import type { InputHash } from "./input-hash.ts";

/** What a record keeps of an attribute that had a value. */
export type KeptValue =
  | { readonly kind: "value"; readonly value: Value }
  | { readonly kind: "hash"; readonly hash: string | readonly string[] }
  | { readonly kind: "redacted" };

export interface InputProtectionOptions {
  /** Attributes whose values are kept, with everything below them. */
  readonly keep: readonly AttributePath[];
  /** Hashes the values of all others; absent: they are redacted. */
  readonly hash?: InputHash;
}

/** Decides what a record keeps of the values that rules read. */
export interface InputProtection {
  readonly options: InputProtectionOptions;
  /** @returns whether the configuration allows to keep the attribute's value */
  keeps(path: AttributePath): boolean;
  protect(path: AttributePath, value: Value): KeptValue;
}

/** The record names the user and the customer in any case. */
const ALWAYS_KEPT: readonly AttributePath[] = [
  ["user", "id"],
  ["customer", "id"],
];

/** Longer values are not kept. */
const MAX_TEXT = 512;
const MAX_ITEMS = 64;
const MAX_DEPTH = 8;

const REDACTED: KeptValue = { kind: "redacted" };

/** Values that look like credentials, and those of attributes whose name says so, are redacted whatever the options are. */
export function createInputProtection(options: InputProtectionOptions): InputProtection {
  const kept = [...ALWAYS_KEPT, ...options.keep];
  const keeps = (path: AttributePath) =>
    !path.some(isSensitiveName) && kept.some((prefix) => prefix.every((name, index) => name === path[index]));
  return {
    options,
    keeps,
    protect(path, value) {
      if (path.some(isSensitiveName) || !isHarmless(value, MAX_DEPTH)) return REDACTED;
      if (keeps(path)) return { kind: "value", value };
      const hash = options.hash && hashOf(value, options.hash);
      return hash === undefined ? REDACTED : { kind: "hash", hash };
    },
  };
}

/** Whether every text in a value can be written as it is: nothing in it looks like a credential. */
function isHarmless(value: Value, depth: number): boolean {
  if (typeof value === "string") return sanitize(value, MAX_TEXT) === value;
  // JSON has no such number, and no value for what is unavailable within an object
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object") return typeof value === "boolean";
  if (value === null) return true;
  if (depth === 0) return false;
  const members = isList(value) ? value : Object.values(value);
  if (members.length > MAX_ITEMS) return false;
  if (
    !isList(value) &&
    Object.keys(value).some((name) => isSensitiveName(name) || sanitize(name, MAX_TEXT) !== name)
  )
    return false;
  return members.every((member) => isHarmless(member, depth - 1));
}

/** Conditions look into lists, and at nothing in an object but its members, which have paths of their own. */
function hashOf(value: Value, hash: InputHash): string | readonly string[] | undefined {
  if (isList(value)) {
    const items = value.map((item) => (isList(item) ? undefined : hashOf(item, hash)));
    return items.every((item) => typeof item === "string") ? items : undefined;
  }
  if (isObject(value)) return "object";
  const operand = operandOf(value);
  if (operand === null) return "null";
  return typeof operand === "object" || operand === undefined ? undefined : hash.of(operand);
}
