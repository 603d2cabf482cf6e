import { isExactValue } from "../../json/index.ts";
import type { Value } from "../../policy/index.ts";
import { isStorable } from "../platform/frame/json-text.ts";
import { DEFAULT_CLAIMS } from "../tenancy/idp.ts";

/** The user who has signed in, according to the provider: foreign data, limited in size and type. */
export interface ProviderIdentity {
  readonly subject: string;
  readonly email: string | undefined;
  readonly name: string | undefined;
  readonly profile: Readonly<Record<string, Value>>;
  /** Authentication methods (RFC 8176); only from the ID token, which is signed. */
  readonly amr: readonly string[];
  readonly acr: string | undefined;
  /** Unix seconds; only from the ID token. */
  readonly authTime: number | undefined;
  /** Mapped claims that could not be accepted completely. */
  readonly leftOut: readonly string[];
}

type Claims = Readonly<Record<string, unknown>>;

const MAX_TEXT = 1000;
const MAX_ITEM = 256;
const MAX_ITEMS = 200;
/**
 * Maximum size of the whole profile, as JSON: lists of users contain a hundred of them, and the audit trail each
 * change.
 */
const MAX_PROFILE_BYTES = 32_768;

/**
 * Reads an identity from the claims of the ID token and of the UserInfo response; the signed ones take precedence.
 *
 * @param mapping - our claim to the provider's: a claim's name, or a path such as `realm_access.roles`
 */
export function readIdentity(
  mapping: Readonly<Record<string, string>>,
  idToken: Claims,
  userInfo: Claims,
): ProviderIdentity {
  const both: Claims = { ...userInfo, ...idToken };
  const names = { ...Object.fromEntries(DEFAULT_CLAIMS.map((name) => [name, name])), ...mapping };
  const profile: Record<string, Value> = {};
  const leftOut: string[] = [];
  for (const [name, path] of Object.entries(names)) {
    if (name === "email" || name === "name") continue;
    const claimed = claimAt(both, path);
    if (claimed === undefined || claimed === null) continue;
    const value = asAttribute(claimed);
    if (value === undefined) leftOut.push(name);
    else profile[name] = value;
  }
  const { kept, tooLarge } = fitting(profile);
  return {
    subject: asSubject(idToken["sub"]),
    email: isDenied(both["email_verified"]) ? undefined : asEmail(claimAt(both, mapping["email"] ?? "email")),
    name: asLine(claimAt(both, mapping["name"] ?? "name")),
    profile: kept,
    amr: asMethods(idToken["amr"]),
    acr: asClass(idToken["acr"]),
    authTime: asTime(idToken["auth_time"]),
    leftOut: [...leftOut, ...tooLarge],
  };
}

/** The largest claims are left out first: a missing claim permits nothing. */
function fitting(profile: Readonly<Record<string, Value>>) {
  const sized = Object.entries(profile)
    .map(([name, value]) => ({ name, value, bytes: Buffer.byteLength(JSON.stringify({ [name]: value })) }))
    .sort((a, b) => a.bytes - b.bytes);
  const kept: Record<string, Value> = {};
  const tooLarge: string[] = [];
  let room = MAX_PROFILE_BYTES;
  for (const { name, value, bytes } of sized) {
    room -= bytes;
    if (room >= 0) kept[name] = value;
    else tooLarge.push(name);
  }
  return { kept, tooLarge };
}

/** A claim of exactly this name (names may contain dots, as URLs do), or else the value at this path. */
function claimAt(claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  let at: unknown = claims;
  for (const step of path.split(".")) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, step)) return undefined;
    at = (at as Claims)[step];
  }
  return at;
}

/**
 * A text, number, boolean or list of such. A list that is too long is not truncated: a policy would take the part for
 * the whole, whereas a missing claim permits nothing.
 */
function asAttribute(value: unknown): Value | undefined {
  if (!Array.isArray(value)) return asScalar(value, MAX_TEXT);
  if (value.length > MAX_ITEMS) return undefined;
  const items = value.map((item) => asScalar(item, MAX_ITEM));
  return items.every((item) => item !== undefined) ? items : undefined;
}

function asScalar(value: unknown, longest: number): string | number | boolean | undefined {
  if (typeof value === "boolean") return value;
  if (typeof value === "number") return isExactValue(value) ? value : undefined;
  return typeof value === "string" && value.length <= longest && isStorable(value) ? value : undefined;
}

/**
 * OpenID Connect Core 1.0, section 2: at most 255 ASCII characters.
 * @throws Error, because without it nobody has signed in
 */
function asSubject(value: unknown): string {
  if (typeof value === "string" && /^[\x20-\x7e]{1,255}$/.test(value)) return value;
  throw new Error("the subject must be 1 to 255 ASCII characters");
}

/** Some providers send it as text. */
function isDenied(verified: unknown): boolean {
  return verified === false || verified === "false";
}

function asEmail(value: unknown): string | undefined {
  if (typeof value !== "string" || value.length > 254) return undefined;
  return /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u.test(value) && isStorable(value) ? value : undefined;
}

function asLine(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  const line = value.trim();
  const good = line !== "" && line.length <= 200 && isStorable(line) && !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(line);
  return good ? line : undefined;
}

/** Compared exactly, so nothing is trimmed. */
function asClass(value: unknown): string | undefined {
  const line = asLine(value);
  return line === value ? line : undefined;
}

function asMethods(value: unknown): string[] {
  const given: readonly unknown[] = Array.isArray(value) ? value : [value];
  return given
    .slice(0, 20)
    .filter((method): method is string => typeof method === "string" && /^[\x21-\x7e]{1,50}$/.test(method));
}

/** Any number: a time that was sent but not understood would otherwise count as one that was not sent. */
function asTime(value: unknown): number | undefined {
  return typeof value === "number" && value >= 0 ? Math.floor(value) : undefined;
}
