import { createHmac, randomBytes } from "node:crypto";
import * as z from "zod";

/** How secrets in the form of Standard Webhooks begin; the key's bytes follow in base64. */
const PREFIX = "whsec_";
const MIN_KEY_BYTES = 16;

/** A secret that a caller chooses. ASCII: receivers differ in how they turn other text into bytes. */
export function webhookSecret() {
  return z
    .string()
    .min(16, "must have at least 16 characters")
    .max(255, "must have at most 255 characters")
    .regex(/^[\x21-\x7e]*$/, "must be visible ASCII characters")
    .refine(
      (secret) => !secret.startsWith(PREFIX) || isKeyText(secret.slice(PREFIX.length)),
      `must go on after \`${PREFIX}\` with ${MIN_KEY_BYTES} bytes or more in base64, padded`,
    );
}

/** Padded and without other characters: there is no second reading. */
function isKeyText(text: string): boolean {
  const key = Buffer.from(text, "base64");
  return key.length >= MIN_KEY_BYTES && key.toString("base64") === text;
}

export function newWebhookSecret(): string {
  return `${PREFIX}${randomBytes(32).toString("base64")}`;
}

/** The bytes that sign: those after `whsec_` decoded, of any other secret its characters. */
function keyOf(secret: string): Buffer {
  return secret.startsWith(PREFIX)
    ? Buffer.from(secret.slice(PREFIX.length), "base64")
    : Buffer.from(secret, "ascii");
}

/** What is signed and sent. */
export interface Message {
  readonly id: string;
  /** Unix seconds, of the attempt. */
  readonly timestamp: number;
  readonly body: string;
}

/** The three headers of Standard Webhooks 1.0: a signature for each secret that is valid, separated by spaces. */
export function signedHeaders(
  { id, timestamp, body }: Message,
  secrets: readonly string[],
): Record<string, string> {
  const signatures = secrets.map((secret) => {
    const signature = createHmac("sha256", keyOf(secret)).update(`${id}.${timestamp}.${body}`);
    return `v1,${signature.digest("base64")}`;
  });
  return {
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": signatures.join(" "),
  };
}
