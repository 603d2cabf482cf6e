import { typeid } from "typeid-js";

/** Every kind of resource, and the prefix of its ids. */
export const ID_PREFIXES = {
  apiKey: "key",
  bulkAssignment: "bas",
  change: "chg",
  client: "cli",
  clientSession: "cls",
  customer: "cus",
  dashboardUser: "adm",
  delivery: "dlv",
  event: "evt",
  flow: "flw",
  person: "per",
  policy: "pol",
  request: "req",
  rollout: "rol",
  session: "ses",
  user: "usr",
  webhook: "whk",
} as const satisfies Record<string, string>;
export type IdKind = keyof typeof ID_PREFIXES;

/**
 * Creates an id: the prefix of its kind, `_`, and a UUIDv7 (RFC 9562, section 5.7) in Crockford's base32. Ids sort by
 * their time of creation, and cannot be guessed.
 */
export function newId(kind: IdKind): string {
  return typeid(ID_PREFIXES[kind]).toString();
}

const ANY_ID = new RegExp(`^(?:${Object.values(ID_PREFIXES).join("|")})_[0-7][0-9a-hjkmnp-tv-z]{25}$`);

/** Whether a text has the form of an id of any kind. */
export function isAnyId(text: string): boolean {
  return ANY_ID.test(text);
}

/** The form of an id of a kind; nothing else can exist. */
export function idPattern(kind: IdKind): RegExp {
  return new RegExp(`^${ID_PREFIXES[kind]}_[0-7][0-9a-hjkmnp-tv-z]{25}$`);
}
