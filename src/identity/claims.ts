import { UNAVAILABLE, type CLAIM_MEMBERS } from "../policy/evaluation.ts";
import type { Value, ValueObject } from "../policy/value.ts";
import { findClaim, parseClaimPath, type ClaimPath } from "./claim-path.ts";
import { omittedClaims } from "./omitted-claims.ts";
import { trimBlanks } from "./trim-blanks.ts";
import type { Identity, SessionClaims } from "./types.ts";

/** The attributes of a verified payload, or the claim that makes it unusable. */
export type ClaimsReading =
  | {
      readonly ok: true;
      readonly attributes: Pick<Identity, "user" | "customer" | "userId" | "session" | "omitted">;
    }
  | { readonly ok: false; readonly detail: string };
export type ClaimsReader = (payload: ValueObject) => ClaimsReading;

/** The claim of our issuer for the kind of principal: `user` or `machine`. */
const PRINCIPAL_TYPE = "principal_type";

/** `user.type` of a caller with an API key; no token may claim it. */
export const API_KEY = "api_key";

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
  readonly claim: ClaimPath;
  readonly separator: Separator | undefined;
}

/** How several values are written as one string. */
export const SEPARATORS = ["space", "comma"] as const;
export type Separator = (typeof SEPARATORS)[number];

/** RFC 6749, section 3.3: scopes are separated by spaces. */
const DEFAULT_LISTS: Readonly<Record<string, Separator>> = { "user.scopes": "space" };

/** Evaluation also accepts UNAVAILABLE below a root, which the type of a plain value does not express. */
const UNKNOWN = UNAVAILABLE as unknown as Value;

const TARGET = /^(?<root>user|customer)\.(?<name>[A-Za-z][A-Za-z0-9_]*)$/;

/**
 * @param configured target (`user.x`, `customer.x`) to claim; overrides the default of the same target.
 * @param lists targets whose claim, if it is a string, is several values.
 * @returns a reader of verified payloads. A claim is looked up by its exact name first (`https://example.com/roles`),
 * then as a dotted path (`realm_access.roles`, `resource_access."my.client".roles`); a missing claim leaves its attribute
 * absent, and one that the token only refers to makes it unavailable.
 * @throws TypeError for a target that does not have that form, a claim that is not a path, or a list that is no target.
 */
export function compileClaims(
  configured: Readonly<Record<string, string>>,
  lists: Readonly<Record<string, Separator>> = {},
): ClaimsReader {
  const separators = { ...DEFAULT_LISTS, ...lists };
  const claims = { ...DEFAULT_CLAIMS, ...configured };
  const stray = Object.keys(lists).find((target) => !Object.hasOwn(claims, target));
  if (stray !== undefined)
    throw new TypeError(`identity option \`claimLists\`: no claim is mapped to \`${stray}\``);
  const mappings = Object.entries(claims).map(([target, claim]) =>
    parseMapping(target, claim, separators[target]),
  );
  return (payload) => {
    const isOmitted = omittedClaims(payload);
    if (isOmitted === undefined) return invalid("the claim `_claim_names` is not an object");
    const roots = { user: emptyObject(), customer: emptyObject() };
    const omitted: string[] = [];
    for (const { root, name, claim, separator } of mappings) {
      // even if a part of it is there
      if (isOmitted(claim)) {
        roots[root][name] = UNKNOWN;
        omitted.push(`${root}.${name}`);
        continue;
      }
      const value = findClaim(payload, claim);
      if (value !== undefined) roots[root][name] = splitValue(value, separator);
    }
    const { user, customer } = roots;

    const { sub } = payload;
    if (sub !== undefined && typeof sub !== "string") return invalid("the claim `sub` is not a string");
    const userId = user["id"];
    if (userId === undefined) return invalid("the claim for `user.id` is missing");
    if (typeof userId !== "string") return invalid("the claim for `user.id` is not a string");
    if (!isPlainText(userId))
      return invalid("the claim for `user.id` is empty or contains control characters");
    if (user["type"] === API_KEY)
      return invalid("the claim for `user.type` says that the token is an API key");
    // of several, or of a structure, nobody could say which one's state and rules apply
    const customerId = customer["id"];
    if ((typeof customerId === "object" && customerId !== null) || typeof customerId === "symbol")
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
        ...(omitted.length > 0 && { omitted: Object.freeze(omitted) }),
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

function parseMapping(target: string, text: string, separator: Separator | undefined): Mapping {
  const { root, name } = TARGET.exec(target)?.groups ?? {};
  if ((root !== "user" && root !== "customer") || name === undefined) {
    throw new TypeError(
      `identity option \`claims\`: \`${target}\` does not have the form \`user.x\` or \`customer.x\``,
    );
  }
  const claim = parseClaimPath(text);
  if (claim === undefined)
    throw new TypeError(`identity option \`claims\`: the claim for \`${target}\` is empty or malformed`);
  return { root, name, claim, separator };
}

/** Only a string is split: an issuer that sends a list means its items as they are. */
function splitValue(value: Value, separator: Separator | undefined): Value {
  if (separator === undefined || typeof value !== "string") return value;
  const items = value.split(separator === "comma" ? "," : " ").map(trimBlanks);
  return Object.freeze(items.filter((item) => item !== ""));
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
