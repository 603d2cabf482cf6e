import { performance } from "node:perf_hooks";
import { sanitize } from "../../../text/index.ts";
import { errorCode } from "../../../runtime/error-code.ts";
import { TargetNotAllowed } from "../../platform/outbound/target.ts";
import type { AttemptRecord } from "./outbox.ts";
import { signedHeaders } from "./signature.ts";

/** How much of a response is read, and how much of it is stored. */
const READ_BYTES = 4_096;
const KEPT_CHARACTERS = 1_024;

export interface DeliveryRequest {
  readonly url: string;
  readonly eventId: string;
  readonly payload: string;
  /** Deliveries are signed with each of them. */
  readonly secrets: readonly string[];
  readonly now: Date;
  /** Ends the attempt early. */
  readonly signal: AbortSignal;
}

/** Sends one delivery once and returns the result: any status from 200 to 299 is a success. Never rejects. */
export async function attempt(send: typeof fetch, sending: DeliveryRequest): Promise<AttemptRecord> {
  const { url, eventId, payload, secrets, now, signal } = sending;
  const begun = performance.now();
  const record = (parts: Omit<AttemptRecord, "duration_ms">): AttemptRecord => ({
    ...parts,
    duration_ms: Math.round(performance.now() - begun),
  });
  try {
    const timestamp = Math.floor(now.getTime() / 1000);
    const response = await send(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "user-agent": "Gatehouse-Webhooks/1",
        ...signedHeaders({ id: eventId, timestamp, body: payload }, secrets),
      },
      body: payload,
      signal,
    });
    const response_body = await beginningOf(response);
    const error = response.ok ? null : refusalOf(response.status);
    return record({ response_status: response.status, response_body, error });
  } catch (error) {
    return record({ response_status: null, response_body: null, error: failureOf(error) });
  }
}

export function isSuccess({ response_status: status }: AttemptRecord): boolean {
  return status !== null && status >= 200 && status <= 299;
}

/** The beginning of a body, as one line of text. The status decides, so a truncated body is no failure. */
async function beginningOf(response: Response): Promise<string> {
  const reader = response.body?.getReader() as ReadableStreamDefaultReader<Uint8Array> | undefined;
  if (reader === undefined) return "";
  const parts: Uint8Array[] = [];
  let length = 0;
  try {
    while (length < READ_BYTES) {
      const { done, value } = await reader.read();
      if (done) break;
      parts.push(value);
      length += value.byteLength;
    }
  } catch {
    // what was read is kept
  }
  // not awaited: it closes the connection
  reader.cancel().catch(() => undefined);
  const text = new TextDecoder().decode(Buffer.concat(parts).subarray(0, READ_BYTES));
  return sanitize(text, KEPT_CHARACTERS);
}

function refusalOf(status: number): string {
  if (status >= 300 && status < 400) return `the receiver returned ${status}; redirects are not followed`;
  return `the receiver returned ${status}`;
}

/** By the codes of Node.js, undici and OpenSSL; for any other error, only its code is reported. */
const FAILURES: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the connection was closed before a response",
  EHOSTUNREACH: "the host is unreachable",
  ENETUNREACH: "the host is unreachable",
  ENOTFOUND: "the host name cannot be resolved",
  EAI_AGAIN: "the host name cannot be resolved",
  EGRESS_PROXY: "the proxy for outgoing requests made no connection",
  EPIPE: "the connection was closed before a response",
  ETIMEDOUT: "timed out while connecting",
  UND_ERR_CONNECT_TIMEOUT: "timed out while connecting",
  UND_ERR_SOCKET: "the connection was closed before a response",
  UND_ERR_HEADERS_OVERFLOW: "the response headers are too large",
};

/** Why there was no response, for the log that customers read: no internals, no addresses. */
function failureOf(error: unknown): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof TargetNotAllowed) return cause.message;
    if (cause.name === "TimeoutError") return "timed out while waiting for a response";
    if (cause.name === "HTTPParserError") return "the response is not valid HTTP";
    const code = errorCode(cause);
    if (code?.startsWith("ERR_SSL_")) return "the TLS handshake failed";
    if (code !== undefined) return FAILURES[code] ?? `no response (${sanitize(code, 60)})`;
  }
  return "no response";
}
