import { eachField, MAX_NAME, readMapEntry } from "./access-log-fields.ts";
import { lengthField, varintField } from "./wire.ts";

/** A request from Envoy's access log; fields that Envoy could not read are empty. */
export interface LoggedRequest {
  readonly id: string;
  readonly method: string;
  readonly host: string;
  /** Path and query as the client sent them. */
  readonly target: string;
  /** Headers by which proxies report the client's address. */
  readonly addresses: readonly (readonly [name: string, value: string])[];
}

/** The response flags of Envoy that are used. */
export interface LoggedFlags {
  readonly clientGone?: true;
  readonly malformed?: true;
  readonly overloaded?: true;
  /** Denied by our decision. */
  readonly denied?: true;
  /** How the application failed, as Envoy's flag, e.g. `UF`. */
  readonly upstream?: readonly string[];
}

const AUTHORITY = lengthField(3);
const PATH = lengthField(5);
const REQUEST_ID = lengthField(9);
const HEADERS = lengthField(13);
const METHOD = varintField(1);

/** config.core.v3.RequestMethod */
const METHODS = ["", "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"];

const ADDRESS_HEADERS: ReadonlySet<string> = new Set(["x-forwarded-for", "forwarded"]);

/** A list of header values is at most 64 KiB (listener.ts). */
const MAX_TARGET = 65_536;

/** Decodes HTTPRequestProperties. */
export function readRequest(bytes: Buffer | undefined): LoggedRequest {
  const request = {
    id: "",
    method: "",
    host: "",
    target: "",
    addresses: [] as (readonly [string, string])[],
  };
  if (bytes === undefined) return request;
  let listed = "";
  eachField(bytes, (reader, tag) => {
    switch (tag) {
      case METHOD:
        listed = METHODS[reader.uint32()] ?? "";
        break;
      case AUTHORITY:
        request.host = reader.bytes().toString("latin1", 0, MAX_NAME);
        break;
      case PATH:
        request.target = reader.bytes().toString("latin1", 0, MAX_TARGET);
        break;
      case REQUEST_ID:
        request.id = reader.bytes().toString("latin1", 0, MAX_NAME);
        break;
      case HEADERS: {
        const { key, value } = readMapEntry(reader.bytes());
        if (key === ":method") {
          request.method = value.toString("latin1", 0, MAX_NAME);
          break;
        }
        const text = value.toString("latin1");
        if (key === "x-real-ip") for (const value of text.split(",")) request.addresses.push([key, value]);
        else if (ADDRESS_HEADERS.has(key)) request.addresses.push([key, text]);
        break;
      }
      default:
        reader.skip(tag);
    }
  });
  if (request.method === "") request.method = listed;
  // lists are read from their end: a cut one would end where the client chose
  if (request.addresses.some(([, list]) => list.length > MAX_TARGET)) request.addresses = [];
  return request;
}

/** ResponseFlags for an application that failed or was missing. */
const UPSTREAM_FLAGS = new Map([
  [varintField(2), "UH"],
  [varintField(3), "UT"],
  [varintField(4), "LR"],
  [varintField(5), "UR"],
  [varintField(6), "UF"],
  [varintField(7), "UC"],
  [varintField(8), "UO"],
  [varintField(9), "NR"],
  [varintField(16), "URX"],
  [varintField(20), "UMSDR"],
  [varintField(24), "UPE"],
  [varintField(25), "NC"],
  [varintField(27), "DF"],
]);

const UNAUTHORIZED = lengthField(13);
const CONNECTION_TERMINATION = varintField(15);
const PROTOCOL_ERROR = varintField(19);
const OVERLOAD_MANAGER = varintField(26);
const REMOTE_RESET = varintField(28);

/** Decodes ResponseFlags. */
export function readFlags(bytes: Buffer): LoggedFlags {
  const flags: { clientGone?: true; malformed?: true; overloaded?: true; denied?: true } = {};
  const upstream: string[] = [];
  eachField(bytes, (reader, tag) => {
    if (tag === CONNECTION_TERMINATION || tag === REMOTE_RESET) {
      if (reader.uint32() !== 0) flags.clientGone = true;
    } else if (tag === PROTOCOL_ERROR) {
      if (reader.uint32() !== 0) flags.malformed = true;
    } else if (tag === OVERLOAD_MANAGER) {
      if (reader.uint32() !== 0) flags.overloaded = true;
    } else if (tag === UNAUTHORIZED) {
      reader.bytes();
      flags.denied = true;
    } else {
      const name = UPSTREAM_FLAGS.get(tag);
      if (name === undefined) reader.skip(tag);
      else if (reader.uint32() !== 0) upstream.push(name);
    }
  });
  return upstream.length === 0 ? flags : { ...flags, upstream };
}

const SOCKET_ADDRESS = lengthField(1);
const ADDRESS = lengthField(2);

/** Decodes config.core.v3.Address: the IP address, empty for a Unix socket. */
export function readAddress(bytes: Buffer): string {
  let address = "";
  eachField(bytes, (reader, tag) => {
    if (tag !== SOCKET_ADDRESS) {
      reader.skip(tag);
      return;
    }
    eachField(reader.bytes(), (inner, kind) => {
      if (kind === ADDRESS) address = inner.bytes().toString("latin1", 0, MAX_NAME);
      else inner.skip(kind);
    });
  });
  return address;
}
