import type { JsonValue } from "./value.ts";

/** Freezes a value and everything in it, which nobody else has yet. */
export function deepFreeze<T extends JsonValue>(value: T): T {
  if (typeof value === "object" && value !== null) {
    for (const member of Object.values<JsonValue>(value)) deepFreeze(member);
    Object.freeze(value);
  }
  return value;
}
