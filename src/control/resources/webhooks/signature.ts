import { createHmac } from "node:crypto";
import { keyOf } from "./secret.ts";

/** The content that is signed and sent. */
export interface Message {
  readonly id: string;
  /** Unix seconds, of the attempt. */
  readonly timestamp: number;
  readonly body: string;
}

/** The three headers of Standard Webhooks 1.0, with a signature for each valid secret, separated by spaces. */
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
