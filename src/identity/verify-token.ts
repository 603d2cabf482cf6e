import { errors, jwtVerify } from "jose";
import type { ValueObject } from "../policy/value.ts";
import type { PublicKey } from "./key-set.ts";
import type { ResolvedOptions } from "./options.ts";
import { decodeObject, reject, type TokenRejection } from "./token-header.ts";
import type { Identity } from "./types.ts";

/** What a token says once its signature and claims are verified, and when that holds, in Unix ms. */
export interface Verified {
  readonly ok: true;
  readonly identity: Identity;
  /** The first moment. */
  readonly validFrom: number;
  /** The first moment no more. */
  readonly validUntil: number;
}

/** The last moment a Date can hold, in Unix seconds. */
const MAX_DATE_SECONDS = 8.64e12;

/**
 * The checks that need a key: signature, issuer, audience, times, proof, claims, in this order.
 *
 * @param keys those that can have signed the token, at least one.
 * @param now Unix ms.
 */
export async function verifyToken(
  token: string,
  keys: readonly PublicKey[],
  options: ResolvedOptions,
  now: number,
): Promise<Verified | TokenRejection> {
  const rejection = await checkWithJose(token, keys, options, now);
  if (rejection !== undefined) return rejection;

  const payload = decodeObject(token.split(".")[1] ?? "");
  if (!payload.ok) return reject("TOKEN_MALFORMED", `the token's payload is ${payload.detail}`);
  const times = readTimes(payload.value);
  if (times === undefined) return reject("TOKEN_CLAIMS_INVALID", "a time claim is missing or not a date");
  const tolerance = options.clockToleranceSeconds;
  const validFrom = Math.ceil(times.notBefore - tolerance) * 1000;
  const validUntil = Math.ceil(times.expires + tolerance) * 1000;
  if (now < validFrom) return reject("TOKEN_NOT_YET_VALID", "the token was issued in the future");

  // RFC 7800, section 3.1; whatever its value is: one that is not understood binds the token all the same
  if (Object.hasOwn(payload.value, "cnf")) {
    return reject(
      "TOKEN_PROOF_REQUIRED",
      "the token is bound to a key (`cnf`), and proofs of keys are not taken",
    );
  }

  const reading = options.readClaims(payload.value);
  if (!reading.ok) return reject("TOKEN_CLAIMS_INVALID", reading.detail);
  const identity = Object.freeze({ ...reading.attributes, expiresAt: times.expires });
  return { ok: true, identity, validFrom, validUntil };
}

async function checkWithJose(
  token: string,
  keys: readonly PublicKey[],
  options: ResolvedOptions,
  now: number,
): Promise<TokenRejection | undefined> {
  let rejection = reject("TOKEN_KEY_UNKNOWN", "no key fits the token");
  for (const key of keys) {
    try {
      await jwtVerify(token, key, {
        algorithms: [...options.algorithms],
        issuer: options.issuer,
        audience: [...options.audience],
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

/** jose's errors hold the payload, so that nothing of them but code and claim name is passed on. */
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
      return reject("TOKEN_ISSUER_MISMATCH", "the token's `iss` is not the one configured");
    if (claim === "aud")
      return reject("TOKEN_AUDIENCE_MISMATCH", "the token's `aud` is none of those configured");
    if (claim === "nbf") return reject("TOKEN_NOT_YET_VALID", "the token's `nbf` lies in the future");
  }
  return reject(
    "TOKEN_CLAIMS_INVALID",
    `the claim \`${claim}\` is ${reason === "missing" ? "missing" : "malformed"}`,
  );
}

/** @returns Unix seconds (NumericDate, RFC 7519, section 2); `undefined` when one is no date, or `exp` is missing. */
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
