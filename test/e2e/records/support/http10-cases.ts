import { raw, type Send } from "../../../support/refused-requests.ts";

/** What one record says: reason, Envoy's word for it, method, path. */
export type Said = readonly [reason: string, detail: string | undefined, action: string, resource: string];
export type Case = readonly [name: string, send: Send, said: Said];

const http10 = (line: string, ...lines: readonly string[]) =>
  [`${line} HTTP/1.0`, "Host: app.test", ...lines, "", ""].join("\r\n");
const HANDSHAKE = ["Connection: upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"];

/** Old proxies and programs speak it; what two of its readers could frame differently is refused. */
export const OVER_HTTP10: readonly Case[] = [
  ["HTTP/1.0", raw(http10("GET /open/old")), ["CONDITION_TRUE", undefined, "GET", "/open/old"]],
  [
    "HTTP/1.0 with a body",
    raw(`${http10("POST /body", "Content-Type: application/json", "Content-Length: 7")}{"a":1}`),
    ["CONDITION_TRUE", undefined, "POST", "/body"],
  ],
  [
    "HTTP/1.0, two requests on a connection that is not kept, of which the second is not read",
    raw(http10("GET /open/first") + http10("GET /open/never")),
    ["CONDITION_TRUE", undefined, "GET", "/open/first"],
  ],
  ...["chunked", "Chunked"].map((coding): Case => [
    `HTTP/1.0 with Transfer-Encoding: ${coding}`,
    raw(
      `${http10(`POST /open/${coding}`, `Transfer-Encoding: ${coding}`, "Connection: keep-alive")}0\r\n\r\n`,
    ),
    [
      "AMBIGUOUS_HEADERS",
      "conflicting_content_length: `transfer-encoding` in HTTP/1.0 (RFC 9112, section 6.1)",
      "POST",
      `/open/${coding}`,
    ],
  ]),
  // Envoy removes what Connection nominates before anything can see it
  ...(
    [
      ["POST", "5\r\nhello\r\n0\r\n\r\n"],
      ["GET", "5\r\nhello\r\n0\r\nx: y\r\n\r\n"],
      ["PUT", `30\r\n${http10("GET /open/hidden").padEnd(48, "\n")}\r\n0\r\n\r\n`],
    ] as const
  ).map(([method, body]): Case => [
    `HTTP/1.0 with a Transfer-Encoding that Connection nominates, ${method}`,
    raw(
      http10(
        `${method} /open/nominated`,
        "Transfer-Encoding: chunked",
        "Connection: transfer-encoding, keep-alive",
      ) + body,
    ),
    [
      "AMBIGUOUS_HEADERS",
      "conflicting_content_length: a body without `content-length` in HTTP/1.0 (RFC 9112, section 6.1)",
      method,
      "/open/nominated",
    ],
  ]),
  [
    "HTTP/1.0 with a Content-Length that Connection nominates",
    raw(`${http10("POST /open/length", "Content-Length: 5", "Connection: content-length")}hello`),
    [
      "AMBIGUOUS_HEADERS",
      "conflicting_content_length: a body without `content-length` in HTTP/1.0 (RFC 9112, section 6.1)",
      "POST",
      "/open/length",
    ],
  ],
  [
    "a version that does not exist, with Transfer-Encoding",
    raw(http10("POST /open/12", "Transfer-Encoding: chunked").replace("1.0", "1.2") + "0\r\n\r\n"),
    [
      "AMBIGUOUS_HEADERS",
      "conflicting_content_length: `transfer-encoding` in HTTP/1.0 (RFC 9112, section 6.1)",
      "POST",
      "/open/12",
    ],
  ],
  [
    "HTTP/1.0 with an empty host",
    raw("GET /open/none HTTP/1.0\r\nHost: \r\n\r\n"),
    ["AMBIGUOUS_HEADERS", "conflicting_host: `` is not a host", "GET", "/open/none"],
  ],
  [
    "a handshake over HTTP/1.0",
    raw(http10("GET /open/ws", ...HANDSHAKE, "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")),
    ["UPGRADE_REQUIRED", undefined, "GET", "/open/ws"],
  ],
];
