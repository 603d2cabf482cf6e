/**
 * Attribute roots: which there are, and in which section conditions read which.
 */

/** What comes with every request. */
const REQUEST_ROOTS = ["user", "customer", "path", "request", "env"] as const;

/** Everything that is there without being declared. */
export const BASE_ROOTS: readonly string[] = [...REQUEST_ROOTS, "args", "item", "response", "message"];

/** Of these the members are up to the identity provider and the application, and so can be declared. */
export const OUTSIDE_ROOTS: readonly string[] = ["user", "customer", "args", "item", "response", "message"];

/**
 * What tokens tell of a caller unless a claim mapping adds to it. Of these only `user.id` has a type for sure: identity
 * providers differ in what the others are, and a token whose `user.id` is no string is refused.
 */
export const CLAIM_MEMBERS = {
  user: [
    "id",
    "email",
    "name",
    "role",
    "roles",
    "permissions",
    "department",
    "groups",
    "customer_id",
    "assigned_customers",
    "scopes",
    "type",
  ],
  customer: ["id"],
} as const satisfies Record<string, readonly string[]>;

/** What a condition is for. */
export type ConditionUse = "request" | "response" | "graphql" | "message";

const ADDED: Readonly<Record<ConditionUse, readonly string[]>> = {
  request: [],
  response: ["item", "response"],
  graphql: ["args"],
  message: ["message"],
};

/** Words of the condition language: an attribute of that name could not be written. */
export const KEYWORDS: ReadonlySet<string> = new Set([
  "and",
  "or",
  "not",
  "in",
  "true",
  "false",
  "null",
  "exists",
]);

/** @returns the roots that conditions of one kind may read, `declared` ones included. */
export function rootsOf(use: ConditionUse, declared: readonly string[]): string[] {
  return [...REQUEST_ROOTS, ...ADDED[use], ...declared];
}

export function isIdentifier(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]{0,99}$/.test(name) && name !== "__proto__";
}
