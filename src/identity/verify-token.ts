import { errors, jwtVerify } from "jose";
import type { ValueObject } from "../policy/value.ts";
import type { PublicKey } from "./key-set.ts";
import type { ResolvedOptions } from "./options.ts";
import { decodeObject, reject, type TokenRejection } from "./token-header.ts";
import type { Identity } from "./types.ts";

/** The claims of a verified token, and when they are valid; Unix ms. */
export interface Verified {
  readonly ok: true;
  readonly identity: Identity;
  /** Start, inclusive. */
  readonly validFrom: number;
  /** End, exclusive. */
  readonly validUntil: number;
}

/** The largest time of a Date, in Unix seconds. */
const MAX_DATE_SECONDS = 8.64e12;

/**
 * The checks that need a key: signature, issuer, audience, times, proof, claims, in this order.
 *
 * @param keys the keys that could have signed the token, at least one.
 * @param now Unix ms.
 */
export async function verifyToken(
  token: string,
  keys: readonly PublicKey[],
  options: ResolvedOptions,
  now: number,
): Promise<Verified | TokenRejection> {
  const payload = decodeObject(token.split(".")[1] ?? "");
  // nothing of the payload is used before the signature, except whether there is an `aud` to check
  const byClient = options.clientIds.size > 0 && payload.ok && !Object.hasOwn(payload.value, "aud");
  const rejection = await checkWithJose(token, keys, options, now, byClient);
  if (rejection !== undefined) return rejection;

  if (!payload.ok) return reject("TOKEN_MALFORMED", `the token's payload is ${payload.detail}`);
  if (byClient && !isClient(payload.value["client_id"], options))
    return reject(
      "TOKEN_AUDIENCE_MISMATCH",
      "the token has no `aud`, and its `client_id` is not a configured one",
    );
  return identityOf(payload.value, options, now);
}

/** The checks of a payload whose signature is valid: times, proof, claims, in this order. */
export function identityOf(
  payload: ValueObject,
  options: Pick<ResolvedOptions, "clockToleranceSeconds" | "readClaims">,
  now: number,
): Verified | TokenRejection {
  const times = readTimes(payload);
  if (times === undefined) return reject("TOKEN_CLAIMS_INVALID", "a time claim is missing or not a date");
  const tolerance = options.clockToleranceSeconds;
  const validFrom = Math.ceil(times.notBefore - tolerance) * 1000;
  const validUntil = Math.ceil(times.expires + tolerance) * 1000;
  if (now < validFrom) return reject("TOKEN_NOT_YET_VALID", "the token was issued in the future");
  if (now >= validUntil) return reject("TOKEN_EXPIRED", "the token has expired");

  // RFC 7800, section 3.1; any value: one that is not understood still binds the token
  if (Object.hasOwn(payload, "cnf")) {
    return reject(
      "TOKEN_PROOF_REQUIRED",
      "the token is bound to a key (`cnf`), and proofs of possession are not supported",
    );
  }

  const reading = options.readClaims(payload);
  if (!reading.ok) return reject("TOKEN_CLAIMS_INVALID", reading.detail);
  const identity = Object.freeze({ ...reading.attributes, expiresAt: times.expires });
  return { ok: true, identity, validFrom, validUntil };
}

async function checkWithJose(
  token: string,
  keys: readonly PublicKey[],
  options: ResolvedOptions,
  now: number,
  withoutAudience: boolean,
): Promise<TokenRejection | undefined> {
  let rejection = reject("TOKEN_KEY_UNKNOWN", "no key matches the token");
  for (const key of keys) {
    try {
      await jwtVerify(token, key, {
        algorithms: [...options.algorithms],
        issuer: options.issuer,
        ...(!withoutAudience && { audience: [...options.audience] }),
        requiredClaims: ["exp"],
        clockTolerance: options.clockToleranceSeconds,
        currentDate: new Date(now),
      });
      return undefined;
    } catch (error) {
      rejection = rejectionFor(error);
      if (rejection.reason !== "TOKEN_SIGNATURE_INVALID") return rejection;
    }
  }
  return rejection;
}

function isClient(clientId: unknown, { clientIds }: ResolvedOptions): boolean {
  return typeof clientId === "string" && clientIds.has(clientId);
}

/** jose's errors contain the payload, so only their code and claim name are passed on. */
function rejectionFor(error: unknown): TokenRejection {
  if (error instanceof errors.JWTExpired) return reject("TOKEN_EXPIRED", "the token has expired");
  if (error instanceof errors.JWTClaimValidationFailed) return rejectionForClaim(error.claim, error.reason);
  if (error instanceof errors.JWSInvalid || error instanceof errors.JWTInvalid) {
    return reject("TOKEN_MALFORMED", "the token does not have the form of a signed JWT");
  }
  if (error instanceof errors.JOSENotSupported) {
    return reject("TOKEN_MALFORMED", "the token's `crit` names an extension that is not supported");
  }
  return reject("TOKEN_SIGNATURE_INVALID", "the token's signature does not match the issuer's key");
}

function rejectionForClaim(claim: string, reason: string): TokenRejection {
  if (reason === "check_failed") {
    if (claim === "iss")
      return reject("TOKEN_ISSUER_MISMATCH", "the token's `iss` is not the configured one");
    if (claim === "aud")
      return reject("TOKEN_AUDIENCE_MISMATCH", "the token's `aud` does not contain a configured one");
    if (claim === "nbf") return reject("TOKEN_NOT_YET_VALID", "the token's `nbf` is in the future");
  }
  return reject(
    "TOKEN_CLAIMS_INVALID",
    `the claim \`${claim}\` is ${reason === "missing" ? "missing" : "malformed"}`,
  );
}

/** @returns Unix seconds (NumericDate, RFC 7519, section 2); `undefined` if one is not a date, or `exp` is missing. */
function readTimes({
  exp,
  nbf = 0,
  iat = 0,
}: ValueObject): { notBefore: number; expires: number } | undefined {
  if (!isDate(exp) || !isDate(nbf) || !isDate(iat)) return undefined;
  return { notBefore: Math.max(nbf, iat), expires: exp };
}

function isDate(value: unknown): value is number {
  return typeof value === "number" && Math.abs(value) <= MAX_DATE_SECONDS;
}
