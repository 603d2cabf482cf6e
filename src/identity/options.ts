import { fileURLToPath } from "node:url";
import { compileClaims, type ClaimsReader, type Separator } from "./claims.ts";
import { isUrl, secureUrl } from "./secure-url.ts";

/** Which bearer tokens are accepted, and where their signing keys come from. */
export interface IdentityOptions {
  /** The only accepted `iss`, compared as text. If `jwks` is absent, also the base of discovery. */
  readonly issuer: string;
  /** A token must name at least one of these in `aud`. */
  readonly audience: string | readonly string[];
  /** Accepted `client_id` of tokens that have no `aud` at all. Default: none, such tokens are refused. */
  readonly clientIds?: readonly string[];
  /** Address or file path of the issuer's keys (RFC 7517); absent: OpenID Connect Discovery from the issuer. */
  readonly jwks?: string;
  /** Accepted signature algorithms; by default all of {@link ALGORITHMS}. */
  readonly algorithms?: readonly string[];
  /** Tolerated clock skew of the issuer, in seconds: 30 by default, at most 300. */
  readonly clockToleranceSeconds?: number;
  /** Minimum time between key fetches caused by unknown keys, and between attempts after a failure. Default: 30 s. */
  readonly cooldownMs?: number;
  /** How often the keys are fetched. Default: 10 min. */
  readonly refreshIntervalMs?: number;
  /** How long keys stay in use if no fetch succeeds. Default: 24 h. */
  readonly maxStaleMs?: number;
  /** Time limit of one request to the issuer. Default: 5 s. */
  readonly requestTimeoutMs?: number;
  /** Accepted `typ` header values; `""` means a header without one. Default: `""`, `JWT` and `at+jwt`. */
  readonly tokenTypes?: readonly string[];
  /** Longest accepted token. Default: 16 KiB. */
  readonly maxTokenBytes?: number;
  /** Target (`user.x` or `customer.x`) to claim name or dotted path; added to the default mapping. */
  readonly claims?: Readonly<Record<string, string>>;
  /** Targets whose claim may be several values in one string, and what separates them. */
  readonly claimLists?: Readonly<Record<string, Separator>>;
  /** Number of verified tokens that are cached. Default: 10,000. */
  readonly cacheSize?: number;
  /** Maximum time that a verified token is cached. Default: 5 min. */
  readonly cacheTtlMs?: number;
}

/**
 * The asymmetric JWS algorithms (RFC 7518, section 3.1; RFC 8037; RFC 9864). Others cannot be configured: `none` is not a
 * signature, and with HS* every key that verifies could also sign.
 */
export const ALGORITHMS = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
] as const;
export type Algorithm = (typeof ALGORITHMS)[number];

/** Options with every default filled in and every value checked. */
export interface ResolvedOptions {
  readonly issuer: string;
  readonly audience: readonly string[];
  readonly clientIds: ReadonlySet<string>;
  readonly jwks: string | undefined;
  readonly algorithms: ReadonlySet<Algorithm>;
  readonly clockToleranceSeconds: number;
  readonly cooldownMs: number;
  readonly refreshIntervalMs: number;
  readonly maxStaleMs: number;
  readonly requestTimeoutMs: number;
  /** Normalized as {@link normalizeType} does; `""` for none. */
  readonly tokenTypes: ReadonlySet<string>;
  readonly maxTokenBytes: number;
  readonly readClaims: ClaimsReader;
  readonly cacheSize: number;
  readonly cacheTtlMs: number;
}

const MAX_CLOCK_TOLERANCE_SECONDS = 300;
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;
/** The longest delay of setTimeout. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Checks the options and fills in the defaults.
 *
 * @throws TypeError that names the option, if one of them would make verification weaker than it looks.
 */
export function resolveOptions(options: IdentityOptions): ResolvedOptions {
  const audience = typeof options.audience === "string" ? [options.audience] : [...options.audience];
  if (audience.length === 0 || audience.includes("")) invalid("audience", "must name at least one audience");
  return {
    issuer: issuer(options),
    audience,
    clientIds: clientIds(options.clientIds ?? []),
    jwks: jwks(options.jwks),
    algorithms: algorithms(options.algorithms ?? ALGORITHMS),
    clockToleranceSeconds: number("clockToleranceSeconds", options.clockToleranceSeconds ?? 30, {
      min: 0,
      max: MAX_CLOCK_TOLERANCE_SECONDS,
    }),
    cooldownMs: duration("cooldownMs", options.cooldownMs ?? 30 * SECOND),
    refreshIntervalMs: duration("refreshIntervalMs", options.refreshIntervalMs ?? 10 * MINUTE),
    maxStaleMs: duration("maxStaleMs", options.maxStaleMs ?? DAY),
    requestTimeoutMs: duration("requestTimeoutMs", options.requestTimeoutMs ?? 5 * SECOND),
    tokenTypes: tokenTypes(options.tokenTypes ?? ["", "JWT", "at+jwt"]),
    maxTokenBytes: number("maxTokenBytes", options.maxTokenBytes ?? 16 * 1024, { min: 1, max: 1024 * 1024 }),
    readClaims: compileClaims(options.claims ?? {}, options.claimLists),
    cacheSize: number("cacheSize", options.cacheSize ?? 10_000, { min: 1, max: 10_000_000 }),
    cacheTtlMs: duration("cacheTtlMs", options.cacheTtlMs ?? 5 * MINUTE),
  };
}

/** A media type as `typ` may abbreviate it (RFC 7515, section 4.1.9): lower case, without `application/`. */
export function normalizeType(type: string): string {
  return type.toLowerCase().replace(/^application\//, "");
}

function issuer({ issuer, jwks }: IdentityOptions): string {
  if (!URL.canParse(issuer)) invalid("issuer", "must be a URL");
  if (jwks === undefined) {
    const { search, hash } = secureUrl("issuer", issuer);
    // OpenID Connect Discovery 1.0, section 3: no query or fragment components
    if (search !== "" || hash !== "") invalid("issuer", "must not have a query or a fragment");
  }
  return issuer;
}

function jwks(location: string | undefined): string | undefined {
  if (location === undefined) return undefined;
  if (location === "") invalid("jwks", "must be a URL or a file path");
  if (location.startsWith("file:")) return fileURLToPath(location);
  return isUrl(location) ? secureUrl("jwks", location).href : location;
}

function clientIds(names: readonly string[]): ReadonlySet<string> {
  if (names.includes("")) invalid("clientIds", "must not contain an empty one");
  return new Set(names);
}

function algorithms(names: readonly string[]): ReadonlySet<Algorithm> {
  if (names.length === 0) invalid("algorithms", "must name at least one algorithm");
  return new Set(
    names.map(
      (name) =>
        ALGORITHMS.find((known) => known === name) ??
        invalid("algorithms", `\`${name}\` is not one of ${ALGORITHMS.join(", ")}`),
    ),
  );
}

function tokenTypes(types: readonly string[]): ReadonlySet<string> {
  if (types.length === 0) invalid("tokenTypes", "must name at least one type");
  return new Set(types.map(normalizeType));
}

function duration(name: keyof IdentityOptions, ms: number): number {
  return number(name, ms, { min: 1, max: MAX_TIMER_MS });
}

function number(
  name: keyof IdentityOptions,
  value: number,
  { min, max }: { min: number; max: number },
): number {
  if (!Number.isSafeInteger(value) || value < min || value > max) {
    invalid(name, `must be a whole number from ${min} to ${max}`);
  }
  return value;
}

function invalid(name: keyof IdentityOptions, problem: string): never {
  throw new TypeError(`identity option \`${name}\` ${problem}`);
}
