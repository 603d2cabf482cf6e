import { createPublicKey, type webcrypto } from "node:crypto";
import { importJWK } from "jose";
import { isObject } from "../json/index.ts";
import { ALGORITHMS, type Algorithm } from "./options.ts";
import type { TokenHeader } from "./token-header.ts";

export type PublicKey = webcrypto.CryptoKey;

/** A key of the issuer that can verify signatures. */
interface VerificationKey {
  readonly id: string | undefined;
  /** The same key once per algorithm, because a CryptoKey is bound to one algorithm. */
  readonly byAlgorithm: ReadonlyMap<Algorithm, PublicKey>;
}

/** The issuer's keys at one moment. */
export interface KeySet {
  readonly keys: readonly VerificationKey[];
  /** Equal if and only if the usable keys are equal. */
  readonly fingerprint: string;
  /** Ignored keys that should not be in the set at all, and why. */
  readonly suspicious: readonly string[];
}

/** More than any issuer publishes at once: one key per client or tenant is hundreds. Importing them takes time. */
const MAX_KEYS = 1000;
const MIN_RSA_BITS = 2048;
/** Members of private and symmetric keys (RFC 7518, sections 6.2.2, 6.3.2 and 6.4; RFC 8037). */
const PRIVATE_MEMBERS = ["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"];

type Jwk = Readonly<Record<string, unknown>>;
type Reading =
  | { readonly kind: "usable"; readonly key: VerificationKey; readonly fingerprint: string }
  /** A key for another purpose, which is not an error. */
  | { readonly kind: "other" }
  | { readonly kind: "suspicious"; readonly why: string };

/**
 * Imports the keys of a JWK Set (RFC 7517, section 5) that are meant for verifying signatures with one of the
 * algorithms; the others are ignored.
 *
 * @throws if it is not a JWK Set, or contains no usable key: such a set never replaces a good one.
 */
export async function importKeySet(jwks: unknown, algorithms: ReadonlySet<Algorithm>): Promise<KeySet> {
  if (!isObject(jwks) || !Array.isArray(jwks["keys"])) throw new Error("the document is not a JWK Set");
  const entries: readonly unknown[] = jwks["keys"];
  if (entries.length > MAX_KEYS) throw new Error(`the JWK Set contains more than ${MAX_KEYS} keys`);

  const keys = new Map<string, VerificationKey>();
  const suspicious: string[] = [];
  for (const [index, entry] of entries.entries()) {
    const reading = await readKey(entry, algorithms);
    if (reading.kind === "usable") keys.set(reading.fingerprint, reading.key);
    if (reading.kind === "suspicious") suspicious.push(`key ${index + 1}: ${reading.why}`);
  }
  if (keys.size === 0) throw new Error("the JWK Set contains no usable key");
  return { keys: [...keys.values()], fingerprint: [...keys.keys()].join("\n"), suspicious };
}

/**
 * @returns the keys that could have made the signature. There can be several if the issuer uses a `kid` twice; for a token
 * without a `kid`, the key must be unambiguous.
 */
export function selectKeys({ keys }: KeySet, { algorithm, keyId }: TokenHeader): readonly PublicKey[] {
  const fitting = keys
    .filter((key) => keyId === undefined || key.id === keyId)
    .flatMap((key) => key.byAlgorithm.get(algorithm) ?? []);
  return keyId === undefined && fitting.length > 1 ? [] : fitting;
}

async function readKey(jwk: unknown, algorithms: ReadonlySet<Algorithm>): Promise<Reading> {
  if (!isObject(jwk)) return suspicious("is not an object");
  const { kid, kty, use, key_ops: operations } = jwk;
  if (kty === "oct") return suspicious("is symmetric");
  if (PRIVATE_MEMBERS.some((member) => member in jwk)) return suspicious("contains private parts");
  if (kid !== undefined && typeof kid !== "string") return suspicious("has a `kid` that is not a string");
  if (use !== undefined && use !== "sig") return { kind: "other" };
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes("verify"))) {
    return { kind: "other" };
  }
  const usedWith = algorithmsOf(jwk).filter((algorithm) => algorithms.has(algorithm));
  if (usedWith.length === 0) return { kind: "other" };

  const material = publicMembers(jwk);
  try {
    if (kty === "RSA" && !isStrongRsa(material))
      return suspicious(`is an RSA key under ${MIN_RSA_BITS} bits`);
    const byAlgorithm = new Map<Algorithm, PublicKey>();
    for (const algorithm of usedWith) byAlgorithm.set(algorithm, await importPublicKey(material, algorithm));
    return {
      kind: "usable",
      key: { id: kid, byAlgorithm },
      fingerprint: JSON.stringify([kid ?? null, usedWith, material]),
    };
  } catch {
    return suspicious("cannot be imported");
  }
}

/** The algorithms of a key: its own `alg` if it has one, otherwise those of its type and curve. */
function algorithmsOf({ kty, crv, alg }: Jwk): readonly Algorithm[] {
  const family = ALGORITHMS.filter((algorithm) => {
    switch (algorithm) {
      case "ES256":
        return kty === "EC" && crv === "P-256";
      case "ES384":
        return kty === "EC" && crv === "P-384";
      case "ES512":
        return kty === "EC" && crv === "P-521";
      case "EdDSA":
      case "Ed25519":
        return kty === "OKP" && crv === "Ed25519";
      default:
        return kty === "RSA";
    }
  });
  return alg === undefined ? family : family.filter((algorithm) => algorithm === alg);
}

/** The key's own parameters, without members that could change how it is imported. */
function publicMembers({ kty, crv, x, y, n, e }: Jwk): Record<string, string> {
  const members = Object.entries({ kty, crv, x, y, n, e });
  return Object.fromEntries(
    members.filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}

/** RFC 7518, section 3.3: 2048 bits or more. With an exponent of 1 anybody could make a signature. */
function isStrongRsa(jwk: Record<string, string>): boolean {
  const { asymmetricKeyDetails: details } = createPublicKey({ key: jwk, format: "jwk" });
  return (details?.modulusLength ?? 0) >= MIN_RSA_BITS && (details?.publicExponent ?? 1n) > 1n;
}

async function importPublicKey(jwk: Record<string, string>, algorithm: Algorithm): Promise<PublicKey> {
  const key = await importJWK(jwk, algorithm);
  if (key instanceof Uint8Array || key.type !== "public") throw new Error("not a public key");
  return key;
}

function suspicious(why: string): Reading {
  return { kind: "suspicious", why };
}
