import { BODIES, EXTENSION } from "../envoy-contract.ts";
import { NO_BODY, type RawBody, type RawRequest } from "../request/types.ts";
import { DecodeError, lengthField, MessageReader, varintField } from "./wire.ts";

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

type Header = readonly [name: string, value: string];

/** What has been read so far. A field that comes again replaces, and a message adds to, what came before. */
class Draft {
  id = "";
  method = "";
  path = "";
  host = "";
  scheme = "";
  protocol = "";
  rawHeaders: Header[] = [];
  joinedHeaders: Map<string, string> | undefined;
  rawBody: Buffer | undefined;
  body: Buffer | undefined;
  address = "";
  port = 0;
  seconds = 0;
  nanos = 0;
  contextExtensions: Record<string, string> | undefined;
  hasHttp = false;
}

/**
 * Reads a CheckRequest. Strings are taken as the bytes they are: judging them is the canonical request's work.
 *
 * @throws {@link DecodeError} when the bytes are no CheckRequest about an HTTP request
 */
export function decodeCheck(bytes: Buffer): CheckCall {
  const draft = new Draft();
  try {
    readCheckRequest(new MessageReader(bytes), draft);
  } catch (error) {
    if (error instanceof DecodeError) throw error;
    throw new DecodeError("malformed message", { cause: error });
  }
  if (!draft.hasHttp) throw new DecodeError("no HTTP request in the message");
  return finish(draft);
}

const ATTRIBUTES = lengthField(1);

function readCheckRequest(reader: MessageReader, draft: Draft): void {
  for (let tag = reader.next(); tag !== 0; tag = reader.next()) {
    if (tag === ATTRIBUTES) readAttributes(reader, draft);
    else reader.skip(tag);
  }
}

const SOURCE = lengthField(1);
const REQUEST = lengthField(4);
const CONTEXT_EXTENSIONS = lengthField(10);

function readAttributes(reader: MessageReader, draft: Draft): void {
  const outer = reader.enter();
  for (let tag = reader.next(); tag !== 0; tag = reader.next()) {
    if (tag === SOURCE) readPeer(reader, draft);
    else if (tag === REQUEST) readRequest(reader, draft);
    else if (tag === CONTEXT_EXTENSIONS) readContextExtension(reader, draft);
    else reader.skip(tag);
  }
  reader.leave(outer);
}

const PEER_ADDRESS = lengthField(1);

function readPeer(reader: MessageReader, draft: Draft): void {
  const outer = reader.enter();
  for (let tag = reader.next(); tag !== 0; tag = reader.next()) {
    if (tag === PEER_ADDRESS) readAddress(reader, draft);
    else reader.skip(tag);
  }
  reader.leave(outer);
}

const SOCKET_ADDRESS = lengthField(1);
const PIPE = lengthField(2);
const INTERNAL_ADDRESS = lengthField(3);

function readAddress(reader: MessageReader, draft: Draft): void {
  const outer = reader.enter();
  for (let tag = reader.next(); tag !== 0; tag = reader.next()) {
    if (tag === SOCKET_ADDRESS) readSocketAddress(reader, draft);
    else {
      // The kinds of address are alternatives: the last one counts.
      if (tag === PIPE || tag === INTERNAL_ADDRESS) {
        draft.address = "";
        draft.port = 0;
      }
      reader.skip(tag);
    }
  }
  reader.leave(outer);
}

const IP = lengthField(2);
const PORT = varintField(3);

function readSocketAddress(reader: MessageReader, draft: Draft): void {
  const outer = reader.enter();
  for (let tag = reader.next(); tag !== 0; tag = reader.next()) {
    if (tag === IP) draft.address = reader.latin1();
    else if (tag === PORT) draft.port = reader.uint32();
    else reader.skip(tag);
  }
  reader.leave(outer);
}

const TIME = lengthField(1);
const HTTP = lengthField(2);

function readRequest(reader: MessageReader, draft: Draft): void {
  const outer = reader.enter();
  for (let tag = reader.next(); tag !== 0; tag = reader.next()) {
    if (tag === TIME) readTimestamp(reader, draft);
    else if (tag === HTTP) readHttp(reader, draft);
    else reader.skip(tag);
  }
  reader.leave(outer);
}

const SECONDS = varintField(1);
const NANOS = varintField(2);

function readTimestamp(reader: MessageReader, draft: Draft): void {
  const outer = reader.enter();
  for (let tag = reader.next(); tag !== 0; tag = reader.next()) {
    if (tag === SECONDS) draft.seconds = reader.int64();
    else if (tag === NANOS) draft.nanos = reader.uint32();
    else reader.skip(tag);
  }
  reader.leave(outer);
}

const ID = lengthField(1);
const METHOD = lengthField(2);
const HEADERS = lengthField(3);
const PATH = lengthField(4);
const HOST = lengthField(5);
const SCHEME = lengthField(6);
const PROTOCOL = lengthField(10);
const BODY = lengthField(11);
const RAW_BODY = lengthField(12);
const HEADER_MAP = lengthField(13);

function readHttp(reader: MessageReader, draft: Draft): void {
  draft.hasHttp = true;
  const outer = reader.enter();
  for (let tag = reader.next(); tag !== 0; tag = reader.next()) {
    switch (tag) {
      case HEADER_MAP:
        readHeaderMap(reader, draft);
        break;
      case HEADERS:
        readJoinedHeader(reader, draft);
        break;
      case ID:
        draft.id = reader.latin1();
        break;
      case METHOD:
        draft.method = reader.latin1();
        break;
      case PATH:
        draft.path = reader.latin1();
        break;
      case HOST:
        draft.host = reader.latin1();
        break;
      case SCHEME:
        draft.scheme = reader.latin1();
        break;
      case PROTOCOL:
        draft.protocol = reader.latin1();
        break;
      case BODY:
        draft.body = reader.bytes();
        break;
      case RAW_BODY:
        draft.rawBody = reader.bytes();
        break;
      default:
        reader.skip(tag);
    }
  }
  reader.leave(outer);
}

const HEADER_VALUE = lengthField(1);

function readHeaderMap(reader: MessageReader, draft: Draft): void {
  const outer = reader.enter();
  reader.expectText();
  for (let tag = reader.next(); tag !== 0; tag = reader.next()) {
    if (tag === HEADER_VALUE) draft.rawHeaders.push(readHeaderValue(reader));
    else reader.skip(tag);
  }
  reader.leave(outer);
}

const KEY = lengthField(1);
const VALUE = lengthField(2);
const RAW_VALUE = lengthField(3);

function readHeaderValue(reader: MessageReader): Header {
  let key = "";
  let value = "";
  let raw: string | undefined;
  const outer = reader.enter();
  for (let tag = reader.next(); tag !== 0; tag = reader.next()) {
    if (tag === KEY) key = reader.latin1();
    else if (tag === RAW_VALUE) raw = reader.latin1();
    else if (tag === VALUE) value = reader.latin1();
    else reader.skip(tag);
  }
  reader.leave(outer);
  return [key.toLowerCase(), raw ?? value];
}

/** A map entry has key and value where a HeaderValue has them, and of two with the same key the last one counts. */
function readJoinedHeader(reader: MessageReader, draft: Draft): void {
  const [name, value] = readHeaderValue(reader);
  draft.joinedHeaders ??= new Map();
  draft.joinedHeaders.set(name, value);
}

function readContextExtension(reader: MessageReader, draft: Draft): void {
  let key = "";
  let value = "";
  const outer = reader.enter();
  for (let tag = reader.next(); tag !== 0; tag = reader.next()) {
    if (tag === KEY) key = reader.utf8();
    else if (tag === VALUE) value = reader.utf8();
    else reader.skip(tag);
  }
  reader.leave(outer);
  draft.contextExtensions ??= Object.create(null) as Record<string, string>;
  draft.contextExtensions[key] = value;
}

const NO_EXTENSIONS: Readonly<Record<string, string>> = Object.freeze(
  Object.create(null) as Record<string, string>,
);
const COLON = 0x3a;

/** Takes apart what Envoy puts among the headers: pseudo-headers, its own note about the body, ids. */
function finish(draft: Draft): CheckCall {
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
