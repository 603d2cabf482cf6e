import { BODIES, EXTENSION } from "../envoy-contract.ts";
import { NO_BODY, type RawBody, type RawRequest } from "../request/types.ts";
import { CheckMessage, readCheckMessage, type Header } from "./check-message.ts";
import { DecodeError, MessageReader } from "./wire.ts";

export { DecodeError } from "./wire.ts";

/** What Envoy says about one request, as far as anything here reads it. */
export interface CheckCall {
  readonly request: RawRequest;
  /** The other end of the downstream connection; an empty address and port 0 where it has none, like a Unix socket. */
  readonly source: { readonly address: string; readonly port: number };
  /** `x-request-id` where it is printable ASCII of at most 128 characters, else Envoy's own id of the stream. */
  readonly requestId: string;
  /** Envoy's own id of the stream, the same however often it asks; empty where it says none. */
  readonly streamId: string;
  /** W3C trace context as received; absent when it was sent more than once. */
  readonly traceparent?: string;
  /** Unix ms: when Envoy saw the request's first byte. */
  readonly receivedAt: number;
  /** Constants from Envoy's configuration of the route. Null prototype. */
  readonly contextExtensions: Readonly<Record<string, string>>;
  /** What the door does with bodies; absent where it does not say. */
  readonly bodies?: keyof typeof BODIES;
  /**
   * True where Envoy runs without `encode_raw_headers`: repeated headers have arrived as one, joined by commas, and bytes
   * that are not UTF-8 as `!`. A repeated Authorization then shows only as a value that is no token.
   */
  readonly headersJoined: boolean;
  /** Names of headers that the client made up, and that `request` is without; absent where there are none. */
  readonly forged?: readonly string[];
}

/**
 * Reads a CheckRequest. Strings are taken as the bytes they are: checking them is the canonical request's work.
 *
 * @throws {@link DecodeError} when the bytes are no CheckRequest about an HTTP request
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

/** Takes apart what Envoy puts among the headers: pseudo-headers, its own note about the body, ids. */
function finish(draft: CheckMessage): CheckCall {
  const headersJoined = draft.rawHeaders.length === 0;
  const received: Iterable<Header> = headersJoined ? (draft.joinedHeaders ?? []) : draft.rawHeaders;
  const headers: Header[] = [];
  const pseudo: Pseudo = {};
  let requestId: string | undefined;
  let traceparent: string | undefined;
  let traceparents = 0;
  let complete: boolean | undefined;

  for (const header of received) {
    const [name, value] = header;
    if (name.charCodeAt(0) === COLON) takePseudo(pseudo, name, value);
    else if (name === "x-envoy-auth-partial-body") {
      complete = value === "false" && complete !== false;
    } else {
      headers.push(header);
      if (name === "x-request-id") requestId ??= value;
      else if (name === "traceparent") {
        traceparent = value;
        traceparents += 1;
      }
    }
  }

  // The pseudo-headers hold the bytes as they came; in the fields beside them Envoy has made them UTF-8.
  const contextExtensions = draft.contextExtensions ?? NO_EXTENSIONS;
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
  };
}

function bodiesOf(extension: string | undefined): CheckCall["bodies"] {
  return extension === BODIES.on_request || extension === BODIES.handed_over ? extension : undefined;
}

/** What a check without bytes says about the body. */
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

/** RFC 9113, section 8.3: a pseudo-header appears once; two would be two requests in one. */
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

/** Unix ms of a timestamp; now, where there is none or it is no time at all. */
function milliseconds(seconds: number, nanos: number): number {
  const time = seconds * 1000 + Math.floor(nanos / 1e6);
  return seconds > 0 && nanos < 1e9 && time <= 8.64e15 ? time : Date.now();
}
