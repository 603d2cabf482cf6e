import { createHash, createHmac, randomBytes } from "node:crypto";
import type { RawRequest } from "../../request/index.ts";

interface Handshake {
  readonly raw: Pick<RawRequest, "protocol" | "headers">;
  readonly requestId: string;
}

const SECRET = randomBytes(32);

/**
 * A WebSocket handshake over HTTP/2 (RFC 8441, section 5) has no `Sec-WebSocket-Key`, because HTTP/2 itself ensures
 * that the response is meant for this client. A server that receives the handshake as HTTP/1.1 requires the header (RFC
 * 6455, section 4.2.1), so the gateway, which is that server's client, creates one. A value that the client sent is
 * replaced.
 *
 * @returns the header, for a handshake that did not arrive over HTTP/1
 */
export function handshakeKey(handshake: Handshake): readonly (readonly [name: string, value: string])[] {
  return isHttp1(handshake) ? [] : [["sec-websocket-key", ownKey(handshake)]];
}

/** RFC 6455, section 1.3. */
const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/**
 * The reverse: an application that receives the handshake over HTTP/2 does not answer the key of an HTTP/1.1 client,
 * which waits for that.
 *
 * @returns the value of `Sec-WebSocket-Accept` for a handshake over HTTP/1 (RFC 6455, section 4.2.2)
 */
export function handshakeAccept(handshake: Handshake): string | undefined {
  const keys = handshake.raw.headers
    .filter(([name]) => name === "sec-websocket-key")
    .map(([, value]) => value.trim());
  const [key, ...others] = isHttp1(handshake) ? keys : [ownKey(handshake)];
  if (key === undefined || others.length > 0) return undefined;
  return createHash("sha1").update(`${key}${GUID}`).digest("base64");
}

function ownKey({ requestId }: Handshake): string {
  return createHmac("sha256", SECRET).update(requestId).digest().subarray(0, 16).toString("base64");
}

function isHttp1({ raw }: Handshake): boolean {
  return raw.protocol.startsWith("HTTP/1.");
}
