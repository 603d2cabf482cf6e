/** What JSON can say. A number that is not exact is NaN (see `exactNumber`). */
export type JsonValue = string | number | boolean | null | JsonList | JsonObject;
export type JsonList = readonly JsonValue[];
export interface JsonObject {
  readonly [name: string]: JsonValue;
}

/** Whether a value is an object, and neither a list nor null. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !isList(value);
}

/** `Array.isArray`, which does not tell read-only lists from other values. */
export function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}
