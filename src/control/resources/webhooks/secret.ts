import { randomBytes } from "node:crypto";
import * as z from "zod";
import { warning, type Warning } from "../../platform/warnings.ts";

/** The prefix of secrets in the form of Standard Webhooks; the key follows in base64. */
const PREFIX = "whsec_";
/** In Unicode characters (code points), which is what people count. */
const MIN_CHARACTERS = 8;
const MAX_CHARACTERS = 255;
/** The minimum of Standard Webhooks; a shorter key can be guessed offline from one delivery. */
const STRONG_KEY_BYTES = 24;

/**
 * A secret chosen by the caller (specification, section 2.6): any text of 8 to 255 characters, used unchanged: nothing
 * is trimmed, folded or normalized. Every body of the API refuses text that is not Unicode, and U+0000.
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
 * The key for signing: for `whsec_` and base64 (RFC 4648, section 4: padded, and nothing else) the decoded bytes, for
 * any other text its UTF-8. Text that is not strictly base64 has more than one decoding, so it is used as text.
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

/** Warnings about a secret that is accepted; never contains the secret. */
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
