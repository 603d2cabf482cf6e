import { createHash, randomBytes } from "node:crypto";
import type { RawRequest } from "../../request/index.ts";

/**
 * A WebSocket handshake over HTTP/2 (RFC 8441, section 5) has no `Sec-WebSocket-Key`: HTTP/2 says by itself that the server
 * means this client. A server that gets it as HTTP/1.1 asks for one (RFC 6455, section 4.2.1), so the gateway, which is its
 * client, makes one. What a client sent under that name is replaced.
 *
 * @returns the header, for a handshake that did not come over HTTP/1
 */
export function handshakeKey({
  protocol,
}: Pick<RawRequest, "protocol">): readonly (readonly [name: string, value: string])[] {
  return isHttp1(protocol) ? [] : [["sec-websocket-key", randomBytes(16).toString("base64")]];
}

/** RFC 6455, section 1.3. */
const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/**
 * The other way round: an application that takes the handshake over HTTP/2 does not answer the key of a client that speaks
 * HTTP/1.1, which waits for that.
 *
 * @returns the value of `Sec-WebSocket-Accept` for a handshake over HTTP/1 (RFC 6455, section 4.2.2)
 */
export function handshakeAccept({
  protocol,
  headers,
}: Pick<RawRequest, "protocol" | "headers">): string | undefined {
  const keys = headers.filter(([name]) => name === "sec-websocket-key");
  const [key] = keys;
  if (!isHttp1(protocol) || key === undefined || keys.length > 1) return undefined;
  return createHash("sha1").update(`${key[1].trim()}${GUID}`).digest("base64");
}

function isHttp1(protocol: string): boolean {
  return protocol.startsWith("HTTP/1.");
}
