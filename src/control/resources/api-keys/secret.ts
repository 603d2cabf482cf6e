import { randomInt } from "node:crypto";
import { crc32 } from "node:zlib";
import type { Environment } from "../../platform/environment.ts";

const PREFIXES = { production: "gh_live_", sandbox: "gh_test_" } as const satisfies Record<
  Environment,
  string
>;
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** 190 bits. */
const RANDOM_CHARACTERS = 32;
/** 62 ** 6 is more than 2 ** 32. */
const CHECKSUM_CHARACTERS = 6;
const FORM = /^(gh_live_|gh_test_)[0-9A-Za-z]{38}$/;

/** Creates the text of a key: the prefix of its environment, a random part, and a checksum over both. */
export function newApiKeySecret(environment: Environment): string {
  const random = Array.from({ length: RANDOM_CHARACTERS }, () => ALPHABET[randomInt(ALPHABET.length)]);
  const text = `${PREFIXES[environment]}${random.join("")}`;
  return `${text}${checksumOf(text)}`;
}

/**
 * Tells the environment of a key without the database.
 *
 * @returns `undefined` for text that is not a key, or was mistyped or truncated
 */
export function environmentOfKey(secret: string): Environment | undefined {
  const [, prefix] = FORM.exec(secret) ?? [];
  if (prefix === undefined) return undefined;
  const text = secret.slice(0, -CHECKSUM_CHARACTERS);
  if (checksumOf(text) !== secret.slice(-CHECKSUM_CHARACTERS)) return undefined;
  return prefix === PREFIXES.production ? "production" : "sandbox";
}

/** It detects typing errors, not forgeries: anyone can compute it. */
function checksumOf(text: string): string {
  let rest = crc32(text);
  let digits = "";
  for (let at = 0; at < CHECKSUM_CHARACTERS; at += 1) {
    digits = `${ALPHABET.charAt(rest % ALPHABET.length)}${digits}`;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return digits;
}
