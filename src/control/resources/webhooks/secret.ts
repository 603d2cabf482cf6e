import { randomBytes } from "node:crypto";
import * as z from "zod";
import { warning, type Warning } from "../../platform/warnings.ts";

/** How secrets in the form of Standard Webhooks begin; the key's bytes follow in base64. */
const PREFIX = "whsec_";
/** In Unicode characters (code points): what somebody counts who chooses one. */
const MIN_CHARACTERS = 8;
const MAX_CHARACTERS = 255;
/** What Standard Webhooks asks for; a key with fewer can be guessed from one delivery, at leisure. */
const STRONG_KEY_BYTES = 24;

/**
 * A secret that a caller chooses (specification, section 2.6): any text of 8 to 255 characters. It is taken as it is:
 * nothing is trimmed, folded or normalized. What is no Unicode text, and U+0000, every body of the API is refused for.
 */
export function webhookSecret() {
  return z
    .string()
    .refine((secret) => codePoints(secret) >= MIN_CHARACTERS, {
      error: `must have at least ${MIN_CHARACTERS} characters`,
    })
    .refine((secret) => codePoints(secret) <= MAX_CHARACTERS, {
      error: `must have at most ${MAX_CHARACTERS} characters`,
    })
    .meta({ minLength: MIN_CHARACTERS, maxLength: MAX_CHARACTERS });
}

function codePoints(text: string): number {
  return Array.from(text).length;
}

export function newWebhookSecret(): string {
  return `${PREFIX}${randomBytes(32).toString("base64")}`;
}

/**
 * The bytes that sign: of `whsec_` and base64 (RFC 4648, section 4: padded, and nothing else) those that it stands for, of any
 * other text its UTF-8. Base64 that is not exactly so has more than one reading, and so is text.
 */
export function keyOf(secret: string): Buffer {
  return encodedKey(secret) ?? Buffer.from(secret, "utf8");
}

function encodedKey(secret: string): Buffer | undefined {
  if (!secret.startsWith(PREFIX)) return undefined;
  const text = secret.slice(PREFIX.length);
  const key = Buffer.from(text, "base64");
  return key.length > 0 && key.toString("base64") === text ? key : undefined;
}

/** Says what the caller should know of a secret that is taken as it is; never the secret. */
export function secretWarnings(secret: string): readonly Warning[] {
  const isShort = keyOf(secret).length < STRONG_KEY_BYTES;
  const isNoBase64 = secret.startsWith(PREFIX) && encodedKey(secret) === undefined;
  const isInvisible = /^\s|\s$|[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(secret);
  return [
    ...(isShort ? [warning("SHORT_SECRET")] : []),
    ...(isNoBase64 ? [warning("NOT_BASE64")] : []),
    ...(isInvisible ? [warning("INVISIBLE_CHARACTERS")] : []),
  ];
}
