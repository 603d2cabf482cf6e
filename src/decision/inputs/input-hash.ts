import { createHmac } from "node:crypto";

/** Keyed hashes of values: equal values have equal hashes, and nobody without the key can try values. */
export interface InputHash {
  /** Tells keys apart without saying anything about them. */
  readonly keyId: string;
  /** @returns `string:` and the hash; values of different types have different hashes */
  of(value: string | number | boolean): string;
}

/** Base64url characters of a hash: 132 bits. */
const HASH_LENGTH = 22;
const KEY_ID_LENGTH = 8;
const MIN_KEY_LENGTH = 32;

/** HMAC-SHA256 (RFC 2104), shortened. @throws TypeError if the key is too short to be random */
export function createInputHash(key: string): InputHash {
  if (key.length < MIN_KEY_LENGTH)
    throw new TypeError(
      `the key must have at least ${MIN_KEY_LENGTH} characters: write one with \`openssl rand -base64 32\``,
    );
  const hash = (text: string) => createHmac("sha256", key).update(text).digest("base64url");
  return {
    keyId: hash("key id").slice(0, KEY_ID_LENGTH),
    // 0 equals -0
    of: (value) => `${typeof value}:${hash(`${typeof value} ${String(value)}`).slice(0, HASH_LENGTH)}`,
  };
}
