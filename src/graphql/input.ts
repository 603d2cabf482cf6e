import type { InputObject, InputValue } from "./types.ts";

/** @returns the own member of an object; `undefined` for what has none of that name. */
export function memberOf(value: InputValue | undefined, name: string): InputValue | undefined {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

export function isObject(value: InputValue | undefined): value is InputObject {
  return typeof value === "object" && value !== null && !isList(value);
}

export function isList(value: InputValue | undefined): value is readonly InputValue[] {
  return Array.isArray(value);
}
