/** A JSON value. An inexact number is NaN (see `exactNumber`). */
export type JsonValue = string | number | boolean | null | JsonList | JsonObject;
export type JsonList = readonly JsonValue[];
export interface JsonObject {
  readonly [name: string]: JsonValue;
}

/** Whether a value is an object, not a list or null. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !isList(value);
}

/** `Array.isArray` with a type guard that also works for read-only lists. */
export function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}
