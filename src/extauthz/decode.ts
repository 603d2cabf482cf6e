import { BODIES, EXTENSION, FORWARDED_PROTO, HEADER } from "../envoy-contract.ts";
import { NO_BODY, type RawBody, type RawRequest } from "../request/types.ts";
import { CheckMessage, readCheckMessage, type Header } from "./check-message.ts";
import { DecodeError, MessageReader } from "./wire.ts";

export { DecodeError } from "./wire.ts";

/** The fields of Envoy's CheckRequest that are used. */
export interface CheckCall {
  readonly request: RawRequest;
  /** The peer of the downstream connection; for a Unix socket an empty address and port 0. */
  readonly source: { readonly address: string; readonly port: number };
  /** `x-request-id` if it is printable ASCII of at most 128 characters, otherwise Envoy's own stream id. */
  readonly requestId: string;
  /** Envoy's own stream id, which is the same for repeated checks of a request; empty if not sent. */
  readonly streamId: string;
  /** W3C trace context as received; absent if it was sent more than once. */
  readonly traceparent?: string;
  /** X-Forwarded-Proto as the peer sent it; absent if the proxy did not copy it. */
  readonly forwardedProto?: readonly string[];
  /** When Envoy received the request's first byte; Unix ms. */
  readonly receivedAt: number;
  /** Constants from Envoy's configuration of the route. Null prototype. */
  readonly contextExtensions: Readonly<Record<string, string>>;
  /** How this route handles bodies; absent if not stated. */
  readonly bodies?: keyof typeof BODIES;
  /**
   * True if Envoy runs without `encode_raw_headers`: repeated headers arrive as one, joined by commas, and bytes that are not
   * UTF-8 as `!`. A repeated Authorization is then only visible as a value that is not a token.
   */
  readonly headersJoined: boolean;
}

/**
 * Decodes a CheckRequest. Strings are kept as bytes; the canonical request validates them.
 *
 * @throws {@link DecodeError} if the bytes are not a CheckRequest for an HTTP request
 */
export function decodeCheck(bytes: Buffer): CheckCall {
  const draft = new CheckMessage();
  try {
    readCheckMessage(new MessageReader(bytes), draft);
  } catch (error) {
    if (error instanceof DecodeError) throw error;
    throw new DecodeError("malformed message", { cause: error });
  }
  if (!draft.hasHttp) throw new DecodeError("no HTTP request in the message");
  return finish(draft);
}

const NO_EXTENSIONS: Readonly<Record<string, string>> = Object.freeze(
  Object.create(null) as Record<string, string>,
);
const COLON = 0x3a;

/** Separates what Envoy mixes into the headers: pseudo-headers, its note about the body, ids. */
function finish(draft: CheckMessage): CheckCall {
  const headersJoined = draft.rawHeaders.length === 0;
  const received: Iterable<Header> = headersJoined ? (draft.joinedHeaders ?? []) : draft.rawHeaders;
  const headers: Header[] = [];
  const pseudo: Pseudo = {};
  let requestId: string | undefined;
  let traceparent: string | undefined;
  let traceparents = 0;
  let complete: boolean | undefined;
  const contextExtensions = draft.contextExtensions ?? NO_EXTENSIONS;
  const forwardedProto: string[] = [];
  const isCopied = contextExtensions[EXTENSION.forwardedProto] === FORWARDED_PROTO.copied;

  for (const header of received) {
    const [name, value] = header;
    if (name.charCodeAt(0) === COLON) takePseudo(pseudo, name, value);
    else if (name === "x-envoy-auth-partial-body") {
      complete = value === "false" && complete !== false;
    } else if (isCopied && name === HEADER.forwardedProto) forwardedProto.push(value);
    else {
      headers.push(header);
      if (name === "x-request-id") requestId ??= value;
      // in HTTP/1.0 it is an ambiguity that src/request refuses; otherwise Envoy has checked it
      else if (name === HEADER.transferEncoding && draft.protocol === "HTTP/1.0")
        headers.push(["transfer-encoding", value]);
      else if (name === "traceparent") {
        traceparent = value;
        traceparents += 1;
      }
    }
  }

  // The pseudo-headers contain the original bytes; in the separate fields Envoy has converted them to UTF-8.
  const bodies = bodiesOf(contextExtensions[EXTENSION.body]);
  const bytes = draft.rawBody ?? draft.body;
  const body =
    bytes === undefined || bytes.length === 0
      ? noBytes(bodies, headers)
      : { bytes, complete: complete === true };
  const request: RawRequest = {
    method: pseudo.method ?? draft.method,
    target: pseudo.path ?? draft.path,
    scheme: pseudo.scheme ?? draft.scheme,
    host: pseudo.authority ?? draft.host,
    protocol: draft.protocol,
    headers,
    ...(body !== undefined && { body }),
  };
  return {
    request,
    source: { address: draft.address, port: draft.port },
    requestId: [requestId, draft.id].find(isPrintable) ?? "",
    streamId: draft.id,
    receivedAt: milliseconds(draft.seconds, draft.nanos),
    contextExtensions,
    headersJoined,
    ...(bodies !== undefined && { bodies }),
    ...(traceparent !== undefined && traceparents === 1 && { traceparent }),
    ...(isCopied && { forwardedProto }),
  };
}

function bodiesOf(extension: string | undefined): CheckCall["bodies"] {
  return extension === BODIES.on_request || extension === BODIES.handed_over ? extension : undefined;
}

/** What a check without body bytes says about the body. */
function noBytes(bodies: CheckCall["bodies"], headers: readonly Header[]): RawBody | undefined {
  const upgrade = headers.some(([name]) => name === "upgrade");
  return bodies === BODIES.handed_over && !upgrade ? NO_BODY : undefined;
}

interface Pseudo {
  method?: string;
  path?: string;
  scheme?: string;
  authority?: string;
}

/** RFC 9113, section 8.3: a pseudo-header appears at most once; a second one would describe a second request. */
function takePseudo(pseudo: Pseudo, name: string, value: string): void {
  switch (name) {
    case ":method":
    case ":path":
    case ":scheme":
    case ":authority": {
      const field = name.slice(1) as keyof Pseudo;
      if (pseudo[field] !== undefined) throw new DecodeError(`two ${name} headers`);
      pseudo[field] = value;
      return;
    }
    default:
  }
}

function isPrintable(text: string | undefined): boolean {
  return text !== undefined && /^[\x21-\x7e]{1,128}$/.test(text);
}

/** Unix ms of a timestamp; now, if it is missing or invalid. */
function milliseconds(seconds: number, nanos: number): number {
  const time = seconds * 1000 + Math.floor(nanos / 1e6);
  return seconds > 0 && nanos < 1e9 && time <= 8.64e15 ? time : Date.now();
}
