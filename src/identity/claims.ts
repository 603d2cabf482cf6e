import { isObject } from "../json/index.ts";
import type { CLAIM_MEMBERS } from "../policy/index.ts";
import type { Value, ValueObject } from "../policy/value.ts";
import type { Identity, SessionClaims } from "./types.ts";

/** The attributes of a verified payload, or the claim that makes it unusable. */
export type ClaimsReading =
  | { readonly ok: true; readonly attributes: Pick<Identity, "user" | "customer" | "userId" | "session"> }
  | { readonly ok: false; readonly detail: string };
export type ClaimsReader = (payload: ValueObject) => ClaimsReading;

/** The claim of our issuer for the kind of principal: `user` or `machine`. */
const PRINCIPAL_TYPE = "principal_type";

/** The default mapping of attributes: target to claim. */
export const DEFAULT_CLAIMS = {
  "user.id": "sub",
  "user.email": "email",
  "user.name": "name",
  "user.role": "role",
  "user.roles": "roles",
  "user.permissions": "permissions",
  "user.department": "department",
  "user.groups": "groups",
  "user.customer_id": "customer_id",
  "user.assigned_customers": "assigned_customers",
  "user.scopes": "scope",
  "user.type": PRINCIPAL_TYPE,
  "customer.id": "customer_id",
} as const satisfies Record<ClaimMember, string>;

/** Attributes that policy sets may use without declaring them. */
type ClaimMember = {
  [Root in keyof typeof CLAIM_MEMBERS]: `${Root}.${(typeof CLAIM_MEMBERS)[Root][number]}`;
}[keyof typeof CLAIM_MEMBERS];

interface Mapping {
  readonly root: "user" | "customer";
  readonly name: string;
  readonly claim: string;
}

const TARGET = /^(?<root>user|customer)\.(?<name>[A-Za-z][A-Za-z0-9_]*)$/;

/**
 * @param configured target (`user.x`, `customer.x`) to claim; overrides the default of the same target.
 * @returns a reader of verified payloads. A claim is looked up by its exact name first (`https://example.com/roles`),
 * then as a dotted path (`realm_access.roles`); a missing claim leaves its attribute absent.
 * @throws TypeError for a target that does not have that form, or an empty claim.
 */
export function compileClaims(configured: Readonly<Record<string, string>>): ClaimsReader {
  const mappings = Object.entries({ ...DEFAULT_CLAIMS, ...configured }).map(([target, claim]) =>
    parseMapping(target, claim),
  );
  return (payload) => {
    const roots = { user: emptyObject(), customer: emptyObject() };
    for (const { root, name, claim } of mappings) {
      const value = findClaim(payload, claim);
      if (value !== undefined) roots[root][name] = value;
    }
    const { user, customer } = roots;
    if (typeof user["scopes"] === "string") user["scopes"] = splitScopes(user["scopes"]);

    const { sub } = payload;
    if (sub !== undefined && typeof sub !== "string") return invalid("the claim `sub` is not a string");
    const userId = user["id"];
    if (userId === undefined) return invalid("the claim for `user.id` is missing");
    if (typeof userId !== "string") return invalid("the claim for `user.id` is not a string");
    if (!isPlainText(userId))
      return invalid("the claim for `user.id` is empty or contains control characters");
    // of several, or of a structure, nobody could say which one's state and rules apply
    const customerId = customer["id"];
    if (typeof customerId === "object" && customerId !== null)
      return invalid("the claim for `customer.id` is not a single value");

    Object.freeze(user);
    Object.freeze(customer);
    return {
      ok: true,
      attributes: {
        user,
        userId,
        session: readSession(payload),
        ...(Object.keys(customer).length > 0 && { customer }),
      },
    };
  };
}

/** Values of another type, and numbers that are not exact, are omitted: they prove nothing. */
function readSession(payload: ValueObject): SessionClaims {
  const { sub, sid, amr, acr, auth_time: authTime, client_id: clientId, [PRINCIPAL_TYPE]: type } = payload;
  const methods = Array.isArray(amr)
    ? (amr as readonly Value[]).filter((method) => typeof method === "string")
    : [];
  return Object.freeze({
    amr: Object.freeze(methods),
    ...(typeof sub === "string" && { subject: sub }),
    ...(typeof sid === "string" && { id: sid }),
    ...(typeof acr === "string" && { acr }),
    ...(typeof authTime === "number" && Number.isFinite(authTime) && { authTime }),
    // RFC 9068, section 2.2: without a resource owner, `sub` is the client
    ...(type === "machine" && typeof sub === "string" && sub === clientId && { machine: true as const }),
  });
}

function parseMapping(target: string, claim: string): Mapping {
  const { root, name } = TARGET.exec(target)?.groups ?? {};
  if ((root !== "user" && root !== "customer") || name === undefined) {
    throw new TypeError(
      `identity option \`claims\`: \`${target}\` does not have the form \`user.x\` or \`customer.x\``,
    );
  }
  if (claim === "") throw new TypeError(`identity option \`claims\`: the claim for \`${target}\` is empty`);
  return { root, name, claim };
}

function findClaim(payload: ValueObject, claim: string): Value | undefined {
  if (Object.hasOwn(payload, claim)) return payload[claim];
  let value: Value | undefined = payload;
  for (const name of claim.split(".")) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

/** RFC 6749, section 3.3: scopes are separated by spaces. */
function splitScopes(scope: string): Value {
  return Object.freeze(scope.split(" ").filter((token) => token !== ""));
}

/** Text that is unchanged in a header, a log line and UTF-8. */
function isPlainText(text: string): boolean {
  return text !== "" && text.isWellFormed() && !/\p{Cc}/u.test(text);
}

/** Without a prototype, so that a name such as `constructor` finds only what a claim has set. */
function emptyObject(): Record<string, Value> {
  return Object.create(null) as Record<string, Value>;
}

function invalid(detail: string): ClaimsReading {
  return { ok: false, detail };
}
