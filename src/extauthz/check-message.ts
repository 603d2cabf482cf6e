import { lengthField, varintField, type MessageReader } from "./wire.ts";

export type Header = readonly [name: string, value: string];

/** A CheckRequest, field by field. A repeated field replaces the earlier one; a repeated message is merged into it. */
export class CheckMessage {
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

const ATTRIBUTES = lengthField(1);

export function readCheckMessage(reader: MessageReader, draft: CheckMessage): void {
  for (let tag = reader.next(); tag !== 0; tag = reader.next()) {
    if (tag === ATTRIBUTES) readAttributes(reader, draft);
    else reader.skip(tag);
  }
}

const SOURCE = lengthField(1);
const REQUEST = lengthField(4);
const CONTEXT_EXTENSIONS = lengthField(10);

function readAttributes(reader: MessageReader, draft: CheckMessage): void {
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

function readPeer(reader: MessageReader, draft: CheckMessage): void {
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

function readAddress(reader: MessageReader, draft: CheckMessage): void {
  const outer = reader.enter();
  for (let tag = reader.next(); tag !== 0; tag = reader.next()) {
    if (tag === SOCKET_ADDRESS) readSocketAddress(reader, draft);
    else {
      // The kinds of address are a oneof: the last one counts.
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

function readSocketAddress(reader: MessageReader, draft: CheckMessage): void {
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

function readRequest(reader: MessageReader, draft: CheckMessage): void {
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

function readTimestamp(reader: MessageReader, draft: CheckMessage): void {
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

function readHttp(reader: MessageReader, draft: CheckMessage): void {
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

function readHeaderMap(reader: MessageReader, draft: CheckMessage): void {
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

/** A map entry has key and value at the same places as a HeaderValue; of two with the same key, the last one counts. */
function readJoinedHeader(reader: MessageReader, draft: CheckMessage): void {
  const [name, value] = readHeaderValue(reader);
  draft.joinedHeaders ??= new Map();
  draft.joinedHeaders.set(name, value);
}

function readContextExtension(reader: MessageReader, draft: CheckMessage): void {
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
