import type { JsonValue } from "./value.ts";

/** Freezes a value and everything in it. Nothing else may hold a reference to it yet. */
export function deepFreeze<T extends JsonValue>(value: T): T {
  if (typeof value === "object" && value !== null) {
    for (const member of Object.values<JsonValue>(value)) deepFreeze(member);
    Object.freeze(value);
  }
  return value;
}
