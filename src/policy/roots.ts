/**
 * Attribute roots: which ones exist, and which of them the conditions of each section can read.
 */

/** Roots that every request has. */
const REQUEST_ROOTS = ["user", "customer", "path", "request", "env"] as const;

/** All roots that exist without a declaration. */
export const BASE_ROOTS: readonly string[] = [...REQUEST_ROOTS, "args", "item", "response", "message"];

/** Roots whose members depend on the identity provider or the application, and so can be declared. */
export const OUTSIDE_ROOTS: readonly string[] = ["user", "customer", "args", "item", "response", "message"];

/**
 * What tokens say about a caller, unless a claim mapping adds to it. Only the type of `user.id` is certain: a token
 * whose `user.id` is not a string is refused. The types of the others differ between identity providers.
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

/** The purpose of a condition. */
export type ConditionUse = "request" | "response" | "graphql" | "message";

const ADDED: Readonly<Record<ConditionUse, readonly string[]>> = {
  request: [],
  response: ["item", "response"],
  graphql: ["args"],
  message: ["message"],
};

/** Keywords of the condition language, which cannot be attribute names. */
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
