import { createPublicKey, verify, type KeyObject } from "node:crypto";
import { checkNumber, checkText } from "./check.ts";
import { GatehouseError } from "./errors.ts";
import { KeySet } from "./key-set.ts";

/** The claims of a verified access token; attributes of the user beside these. */
export interface AccessTokenClaims {
  readonly iss: string;
  readonly aud: string | readonly string[];
  /** The user, or the machine client. */
  readonly sub: string;
  readonly exp: number;
  readonly iat: number;
  /** The session. */
  readonly sid?: string;
  readonly client_id?: string;
  readonly customer_id?: string;
  readonly principal_type?: "user" | "machine";
  readonly scope?: string;
  readonly amr?: readonly string[];
  readonly auth_time?: number;
  readonly [attribute: string]: unknown;
}

/** Why a token is not accepted. `KEYS_UNAVAILABLE` says nothing about the token: the caller may try again. */
export type TokenProblem =
  | "TOKEN_MISSING"
  | "TOKEN_MALFORMED"
  | "TOKEN_TYPE"
  | "TOKEN_ALGORITHM"
  | "TOKEN_KEY_UNKNOWN"
  | "TOKEN_SIGNATURE"
  | "TOKEN_ISSUER"
  | "TOKEN_AUDIENCE"
  | "TOKEN_EXPIRED"
  | "TOKEN_NOT_YET_VALID"
  | "KEYS_UNAVAILABLE";

export class TokenError extends GatehouseError {
  readonly code: TokenProblem;

  constructor(code: TokenProblem, options?: ErrorOptions) {
    super(`access token refused: ${code}`, options);
    this.code = code;
  }
}

export interface TokenVerifierOptions {
  /** The control plane's `public_url`, exactly. */
  readonly issuer: string;
  /** `sign_in.audience` of the control plane. Default: `gatehouse`. */
  readonly audience?: string;
  /** Default: `/.well-known/jwks.json` of the issuer. */
  readonly jwksUrl?: string;
  /** How long fetched keys are used. Default: 300,000. */
  readonly cacheMs?: number;
  /** The least time between two requests for the keys, whatever tokens arrive; 1 to 2 s after one that failed. Default: 30,000. */
  readonly cooldownMs?: number;
  /** How far clocks may differ. Default: 5. */
  readonly clockToleranceSeconds?: number;
  readonly fetch?: typeof fetch;
  /** Unix ms. */
  readonly clock?: () => number;
}

/** The only algorithm of the control plane: which one is used is never up to the token. */
const ALGORITHM = "ES256";
const MAX_LENGTH = 16_384;

/**
 * Verifies access tokens of a control plane (RFC 9068). It does not ask whether the session has ended: the gateway does,
 * and without one a token is good until it expires.
 */
export class TokenVerifier {
  readonly #issuer: string;
  readonly #audience: string;
  readonly #tolerance: number;
  readonly #clock: () => number;
  readonly #keys: KeySet<KeyObject>;

  constructor(options: TokenVerifierOptions) {
    this.#issuer = checkText("issuer", options.issuer);
    this.#audience = checkText("audience", options.audience ?? "gatehouse");
    this.#tolerance = checkNumber("clockToleranceSeconds", options.clockToleranceSeconds ?? 5);
    this.#clock = options.clock ?? Date.now;
    this.#keys = new KeySet({
      url: options.jwksUrl ?? `${options.issuer.replace(/\/$/, "")}/.well-known/jwks.json`,
      cacheMs: checkNumber("cacheMs", options.cacheMs ?? 300_000),
      cooldownMs: checkNumber("cooldownMs", options.cooldownMs ?? 30_000),
      fetch: options.fetch ?? ((input, init) => fetch(input, init)),
      // a clock that is set must neither keep keys for longer nor stop requests for them
      clock: () => performance.now(),
      read: readKey,
    });
  }

  /**
   * Fetches the keys, unless it has them: what comes next then does not fail for want of keys.
   *
   * @throws TokenError
   */
  async loadKeys(): Promise<void> {
    await this.#keys.load().catch(unavailable);
  }

  /** @throws TokenError */
  async verify(token: string): Promise<AccessTokenClaims> {
    // callers without types may have none
    const parts = typeof token === "string" ? token.split(".") : [];
    const [head = "", payload = "", signature = ""] = parts;
    if (parts.length !== 3 || token.length > MAX_LENGTH) throw new TokenError("TOKEN_MALFORMED");
    const header = readJson(head);
    if (header["alg"] !== ALGORITHM || header["crit"] !== undefined) throw new TokenError("TOKEN_ALGORITHM");
    // an ID token is for the application that signed the user in, and grants nothing
    if (header["typ"] !== "at+jwt") throw new TokenError("TOKEN_TYPE");
    const key = await this.#keyOf(header["kid"]);
    const bytes = decode(signature);
    const isSigned = verify(
      "sha256",
      Buffer.from(`${head}.${payload}`),
      { key, dsaEncoding: "ieee-p1363" },
      bytes,
    );
    if (!isSigned) throw new TokenError("TOKEN_SIGNATURE");
    return this.#check(readJson(payload));
  }

  async #keyOf(kid: unknown): Promise<KeyObject> {
    if (typeof kid !== "string") throw new TokenError("TOKEN_KEY_UNKNOWN");
    const key = await this.#keys.find(kid).catch(unavailable);
    if (key === undefined) throw new TokenError("TOKEN_KEY_UNKNOWN");
    return key;
  }

  #check(claims: Record<string, unknown>): AccessTokenClaims {
    const { iss, aud, sub, exp, nbf, iat } = claims;
    const now = this.#clock() / 1000;
    if (iss !== this.#issuer) throw new TokenError("TOKEN_ISSUER");
    const audiences: unknown[] = Array.isArray(aud) ? aud : [aud];
    if (!audiences.includes(this.#audience)) throw new TokenError("TOKEN_AUDIENCE");
    if (!isTime(exp) || !isTime(iat) || typeof sub !== "string" || sub === "")
      throw new TokenError("TOKEN_MALFORMED");
    if (!(now < exp + this.#tolerance)) throw new TokenError("TOKEN_EXPIRED");
    if (nbf !== undefined && !(isTime(nbf) && now >= nbf - this.#tolerance))
      throw new TokenError("TOKEN_NOT_YET_VALID");
    return claims as unknown as AccessTokenClaims;
  }
}

function unavailable(cause: unknown): never {
  throw new TokenError("KEYS_UNAVAILABLE", { cause });
}

/** `1e999` is JSON, and read as infinity. */
function isTime(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

function decode(text: string): Buffer {
  const bytes = Buffer.from(text, "base64url");
  // one text for the same bytes, and no other
  if (bytes.toString("base64url") !== text) throw new TokenError("TOKEN_MALFORMED");
  return bytes;
}

function readJson(text: string): Record<string, unknown> {
  const bytes = decode(text);
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch {
    // below
  }
  throw new TokenError("TOKEN_MALFORMED");
}

/** @returns undefined for a key of another kind */
function readKey(jwk: Record<string, unknown>): KeyObject | undefined {
  const { kty, crv, use = "sig", alg = ALGORITHM, x, y } = jwk;
  if (kty !== "EC" || crv !== "P-256" || use !== "sig" || alg !== ALGORITHM) return undefined;
  try {
    return createPublicKey({ key: { kty, crv, x: x as string, y: y as string }, format: "jwk" });
  } catch {
    return undefined;
  }
}
