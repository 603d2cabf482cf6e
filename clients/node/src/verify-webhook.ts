import { createHmac, timingSafeEqual } from "node:crypto";
import { checkNumber } from "./check.ts";
import { ConfigurationError, GatehouseError } from "./errors.ts";
import type { Event } from "./api.ts";

/** An event as it is delivered. Later servers may know more types. */
export interface WebhookEvent {
  /** The same for every attempt: an id that you have handled needs no handling again. */
  readonly id: string;
  readonly type: Event["type"] | "webhook.test" | (string & {});
  /** When it happened. */
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Why a delivery is not to be trusted. */
export type WebhookProblem =
  | "HEADER_MISSING"
  | "TIMESTAMP_INVALID"
  | "TIMESTAMP_OUTSIDE_TOLERANCE"
  | "SIGNATURE_MISMATCH"
  | "BODY_INVALID";

/** The delivery did not come from who has the secret, or not now. Answer 400. */
export class WebhookVerificationError extends GatehouseError {
  readonly code: WebhookProblem;

  constructor(code: WebhookProblem) {
    super(`webhook refused: ${code}`);
    this.code = code;
  }
}

export type HeaderSource =
  | { get(name: string): string | null | undefined }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface WebhookDeliveryToVerify {
  /** As received: a body that was parsed and written again has another signature. */
  readonly body: string | Uint8Array;
  readonly headers: HeaderSource;
  /** The webhook's secret; during a rotation, the one before it as well. */
  readonly secrets: string | readonly string[];
  /** How far the time of the attempt may be from now. Default: 300. */
  readonly toleranceSeconds?: number;
  /** Unix ms. Default: now. */
  readonly now?: number;
}

/**
 * Verifies a delivery (Standard Webhooks 1.0).
 *
 * @returns the event
 * @throws WebhookVerificationError
 */
export function verifyWebhook(delivery: WebhookDeliveryToVerify): WebhookEvent {
  const { body, headers, now = Date.now() } = delivery;
  const tolerance = checkNumber("toleranceSeconds", delivery.toleranceSeconds ?? 300);
  const secrets = [delivery.secrets].flat();
  if (secrets.length === 0 || !secrets.every(isSecret))
    throw new ConfigurationError("`secrets` must be texts that are not empty");
  const id = headerOf(headers, "webhook-id");
  const timestamp = headerOf(headers, "webhook-timestamp");
  const signatures = headerOf(headers, "webhook-signature").split(" ");
  if (!/^\d{1,12}$/.test(timestamp)) throw new WebhookVerificationError("TIMESTAMP_INVALID");
  if (!(Math.abs(now / 1000 - Number(timestamp)) <= tolerance))
    throw new WebhookVerificationError("TIMESTAMP_OUTSIDE_TOLERANCE");
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  const expected = secrets.map((secret) =>
    createHmac("sha256", keyOf(secret)).update(`${id}.${timestamp}.`).update(bytes).digest(),
  );
  if (!signatures.some((signature) => expected.some((mac) => isSignature(signature, mac))))
    throw new WebhookVerificationError("SIGNATURE_MISMATCH");
  return readEvent(bytes, id);
}

/** An empty key is one that everybody knows, and half a character has no bytes. Callers without types may have none. */
function isSecret(secret: unknown): boolean {
  return typeof secret === "string" && secret !== "" && !/\p{Surrogate}/u.test(secret);
}

function headerOf(headers: HeaderSource, name: string): string {
  const value = typeof headers.get === "function" ? (headers.get(name) as unknown) : headerIn(headers, name);
  if (typeof value !== "string" || value === "") throw new WebhookVerificationError("HEADER_MISSING");
  return value;
}

function headerIn(headers: object, name: string): unknown {
  return Object.entries(headers).find(([header]) => header.toLowerCase() === name)?.[1];
}

/** For `whsec_` and padded base64 the decoded bytes, for any other text its UTF-8: as the control plane reads it. */
function keyOf(secret: string): Buffer {
  const encoded = secret.startsWith("whsec_") ? secret.slice("whsec_".length) : "";
  const key = Buffer.from(encoded, "base64");
  return key.length > 0 && key.toString("base64") === encoded ? key : Buffer.from(secret);
}

function isSignature(signature: string, mac: Buffer): boolean {
  if (!signature.startsWith("v1,")) return false;
  const given = Buffer.from(signature.slice("v1,".length), "base64");
  return given.length === mac.length && timingSafeEqual(given, mac);
}

function readEvent(bytes: Uint8Array, id: string): WebhookEvent {
  try {
    const event = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as WebhookEvent | null;
    // the header is signed with the body, so they say the same
    if (typeof event === "object" && event !== null && event.id === id && typeof event.type === "string")
      return event;
  } catch {
    // not JSON
  }
  throw new WebhookVerificationError("BODY_INVALID");
}
