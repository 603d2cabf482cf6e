import type { RequestListener, Server } from "node:http";
import type { Duplex } from "node:stream";
import type { Express } from "express";
import { errorCode } from "../../../runtime/error-code.ts";
import { createHttpServer, type FollowedTls, type TlsFollowingServer } from "../../../runtime/tls-server.ts";
import { ApiError, type ErrorCode } from "../errors.ts";
import { newId } from "../ids.ts";
import { errorEnvelope } from "./envelope.ts";

/**
 * A request holds a connection, and memory for what was read, until its last byte. The largest body, 16 MB, needs 5
 * Mbit/s. Answers may take longer. Checked every few seconds, so that it does not take twice the time.
 */
const TIMES = { requestTimeout: 30_000, headersTimeout: 10_000, connectionsCheckingInterval: 5_000 };

/** A server of the API that does not listen yet. @throws Error if the files for TLS are not usable */
export function createApiServer(listener?: RequestListener, tls?: FollowedTls): Promise<TlsFollowingServer> {
  return createHttpServer(TIMES, listener, tls);
}

/**
 * Lets an application answer a server's requests, including those that Node.js would answer itself, without the
 * envelope.
 */
export function serveOn(server: Server, application: Express, clock: () => number): void {
  server.on("request", application);
  // an unknown expectation may be ignored (RFC 9110, section 10.1.1)
  server.on("checkExpectation", application);
  server.on("clientError", (error, socket) => {
    refuseUnreadable(error, socket, new Date(clock()));
  });
}

const CODES: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: "HEADERS_TOO_LARGE",
  HPE_CHUNK_EXTENSIONS_OVERFLOW: "PAYLOAD_TOO_LARGE",
  ERR_HTTP_REQUEST_TIMEOUT: "REQUEST_TIMEOUT",
};

/** Bytes that are not HTTP have no caller to count and no route: they get this answer, and the connection ends. */
function refuseUnreadable(error: Error, socket: Duplex, now: Date): void {
  const code = errorCode(error) ?? "";
  if (code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const failure = new ApiError(CODES[code] ?? "MALFORMED_REQUEST");
  const requestId = newId("request");
  const body = JSON.stringify(errorEnvelope(failure, requestId, now));
  socket.end(
    [
      `HTTP/1.1 ${failure.status} ${REASON_PHRASES[failure.status] ?? "Bad Request"}`,
      "Content-Type: application/json; charset=utf-8",
      `Content-Length: ${Buffer.byteLength(body)}`,
      "Cache-Control: no-store",
      `X-Request-Id: ${requestId}`,
      "Connection: close",
      "",
      body,
    ].join("\r\n"),
  );
}

const REASON_PHRASES: Readonly<Record<number, string>> = {
  408: "Request Timeout",
  413: "Content Too Large",
  431: "Request Header Fields Too Large",
};
