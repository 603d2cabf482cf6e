import { isExactValue, isList } from "../../json/index.ts";
import * as z from "zod";
import { inBackticks } from "../../text/index.ts";
import type { Value } from "../../policy/index.ts";

/** Values by name: roles, departments, whatever policies read about a user. */
export type UserAttributes = Readonly<Record<string, Value>>;

/** The user's own members: neither a provider nor an administrator can set them through an attribute. */
export const RESERVED_NAMES: readonly string[] = ["id", "customer_id", "email", "name", "status"];

/** The name of an attribute, as a condition can write it: `user.<name>`. */
export const attributeName = z
  .string()
  .regex(/^[A-Za-z_]\w{0,63}$/, "must be at most 64 letters, digits and `_`, not starting with a digit")
  .refine((name) => !RESERVED_NAMES.includes(name), {
    error: `must not be one of ${inBackticks(RESERVED_NAMES)}`,
  })
  .refine((name) => name !== "__proto__", "must not be `__proto__`");

/**
 * Whether the numbers in a stored value are the ones that were sent: before inexact numbers were refused, they were
 * stored rounded (docs/decisions/0040).
 */
export function isExactAttribute(value: Value): boolean {
  if (typeof value === "number") return isExactValue(value);
  return !isList(value) || value.every(isExactAttribute);
}
