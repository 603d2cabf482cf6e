import { inBackticks } from "../../text/index.ts";
import type { ErrorCode } from "./errors.ts";
import { ApiError } from "./errors.ts";

/**
 * Scopes of API keys (specification, section 5), one more for gateways, so that they need no full access, and one for
 * callers of applications, whom gateways identify by such a key: it permits nothing here.
 */
export const SCOPES = [
  "read_only",
  "configuration",
  "authentication",
  "full_access",
  "gateway",
  "caller",
] as const;
export type Scope = (typeof SCOPES)[number];

export const ROLES = ["owner", "admin", "viewer"] as const;
export type Role = (typeof ROLES)[number];

/** The permission that a route requires. `keys` and `team` are only for people: an API key never creates another. */
export const PERMISSIONS = [
  "read",
  "configure",
  "authenticate",
  "gateway",
  "sandbox",
  "keys",
  "team",
  "self",
] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** The authenticated caller. */
export type Actor =
  | {
      readonly kind: "api_key";
      readonly id: string;
      readonly name: string;
      readonly scope: Scope;
      /** The only customer that the key may access. */
      readonly customerId?: string;
      /** For a key that replaces others: the first of them. */
      readonly familyId?: string;
    }
  | {
      readonly kind: "dashboard_user";
      readonly id: string;
      readonly name: string;
      readonly role: Role;
      readonly sessionId: string;
    }
  /** The service itself, or a command run on its machine. */
  | { readonly kind: "system"; readonly id: string; readonly name: string }
  /** An anonymous caller; only for public routes. */
  | { readonly kind: "anonymous"; readonly id: string };

/** The matrix of scopes. */
export const SCOPE_PERMISSIONS = {
  read_only: ["read"],
  configuration: ["read", "configure"],
  authentication: ["authenticate"],
  gateway: ["gateway"],
  caller: [],
  full_access: ["read", "configure", "authenticate", "gateway", "sandbox"],
} as const satisfies Record<Scope, readonly Permission[]>;

/** The matrix of roles. */
export const ROLE_PERMISSIONS = {
  viewer: ["read", "self"],
  admin: ["read", "configure", "authenticate", "sandbox", "keys", "self"],
  owner: ["read", "configure", "authenticate", "sandbox", "keys", "team", "self"],
} as const satisfies Record<Role, readonly Permission[]>;

/**
 * @throws ApiError 403, naming the required scopes or roles; 401 for an anonymous caller
 */
export function requirePermission(actor: Actor, permission: Permission): void {
  switch (actor.kind) {
    case "system":
      return;
    case "anonymous":
      throw new ApiError("UNAUTHORIZED");
    case "api_key":
      if (!includes(SCOPE_PERMISSIONS[actor.scope], permission))
        throw refused("INSUFFICIENT_SCOPE", "scope", actor.scope, namesWith(SCOPE_PERMISSIONS, permission));
      return;
    case "dashboard_user":
      if (!includes(ROLE_PERMISSIONS[actor.role], permission))
        throw refused("INSUFFICIENT_ROLE", "role", actor.role, namesWith(ROLE_PERMISSIONS, permission));
  }
}

/** Whether {@link requirePermission} would let an actor pass. */
export function isPermitted(actor: Actor, permission: Permission): boolean {
  if (actor.kind === "api_key") return includes(SCOPE_PERMISSIONS[actor.scope], permission);
  if (actor.kind === "dashboard_user") return includes(ROLE_PERMISSIONS[actor.role], permission);
  return actor.kind === "system";
}

/** @returns the scopes, or roles, that have a permission. */
export function namesWith(
  matrix: Readonly<Record<string, readonly Permission[]>>,
  permission: Permission,
): string[] {
  return Object.keys(matrix).filter((name) => includes(matrix[name] ?? [], permission));
}

function refused(code: ErrorCode, what: "scope" | "role", has: string, needed: readonly string[]): ApiError {
  const message =
    needed.length === 0
      ? `no ${what} permits this for this kind of caller`
      : `requires the ${what} ${inBackticks(needed, " or ")}; \`${has}\` does not permit this`;
  return new ApiError(code, { message, details: { [what]: has, [`required_${what}`]: needed } });
}

function includes(permissions: readonly Permission[], permission: Permission): boolean {
  return permissions.includes(permission);
}

/** The customer that an actor is limited to; `undefined` for all. */
export function onlyCustomerOf(actor: Actor): string | undefined {
  return actor.kind === "api_key" ? actor.customerId : undefined;
}

/**
 * The calling application (RFC 6749, section 1.1: the client). For a key it is the family, which stays the same when
 * the key is rolled.
 */
export function clientOf(actor: Actor): string {
  return actor.kind === "api_key" ? (actor.familyId ?? actor.id) : actor.id;
}
