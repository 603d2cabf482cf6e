import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { currentCaller, type Caller } from "../../../storage/index.ts";

/** Names the caller for whom this process sends a request to itself. Nobody else knows its value. */
const HEADER = "x-gatehouse-own-request";

const underway = new Map<string, Caller | undefined>();

/**
 * Sends a request to this process itself, which serves it as work of the current caller. By its address it would be work
 * of the process, and all such requests would be one caller.
 */
export async function sendToItself(fetchIt: typeof fetch, url: string, init: RequestInit): Promise<Response> {
  const caller = currentCaller();
  const value = randomBytes(16).toString("hex");
  const headers = new Headers(init.headers);
  headers.set(HEADER, value);
  underway.set(value, caller);
  try {
    return await fetchIt(url, { ...init, headers });
  } finally {
    underway.delete(value);
  }
}

/** @returns the caller for whom this process has sent the request; `undefined` for requests of others */
export function callerOfOwnRequest({ headers }: Pick<IncomingMessage, "headers">): Caller | undefined {
  const value = headers[HEADER];
  return typeof value === "string" ? underway.get(value) : undefined;
}

/** Whether this process has sent the request, and waits for its answer. */
export function isOwnRequest({ headers }: Pick<IncomingMessage, "headers">): boolean {
  const value = headers[HEADER];
  return typeof value === "string" && underway.has(value);
}
