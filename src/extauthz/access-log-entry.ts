import { DECISION, NAMESPACE, NOTE } from "../envoy-contract.ts";
import { eachField, MAX_NAME, milliseconds, readMapEntry } from "./access-log-fields.ts";
import {
  readAddress,
  readFlags,
  readRequest,
  type LoggedFlags,
  type LoggedRequest,
} from "./access-log-request.ts";
import { lengthField, varintField } from "./wire.ts";

/** Bytes. */
const MAX_OUTCOME = 65_536;

/** One entry of the access log, field by field. */
export class RawEntry {
  type = NOT_SET;
  start: number | undefined;
  lastByte: number | undefined;
  firstByteSent: number | undefined;
  lastByteReceived: number | undefined;
  cluster = "";
  total: number | undefined;
  responseCode = 0;
  responseBytes = 0;
  details = "";
  /** The status sent to the client. */
  answeredId = "";
  /** The other end of the connection. */
  peer = "";
  /** The client, if the connection's other end is a proxy that says so by the PROXY protocol. */
  remote = "";
  flags: LoggedFlags = {};
  forwarded = false;
  /** Names of tags. */
  readonly tags = new Set<string>();
  isFinal = false;
  /** Read only if needed: if there was no decision, or nothing was forwarded. */
  requestBytes: Buffer | undefined;
  request: LoggedRequest = readRequest(undefined);
  readonly noted = new Map<string, string>();
  readonly decision = new Map<string, string>();
}

/** AccessLogType: not set if Envoy logs only the end of a request; otherwise the moment that the entry is about. */
const NOT_SET = 0;
export const DOWNSTREAM_PERIODIC = 5;
const DOWNSTREAM_END = 6;

const COMMON = lengthField(1);
const REQUEST = lengthField(3);
const RESPONSE = lengthField(4);

/** @returns `intermediate` if it is neither the end of a request nor the report of an open connection */
export function readEntry(bytes: Buffer): RawEntry | "intermediate" | "malformed" {
  const draft = new RawEntry();
  try {
    eachField(bytes, (reader, tag) => {
      if (tag === COMMON) readCommon(reader.bytes(), draft);
      else if (tag === REQUEST) draft.requestBytes = reader.bytes();
      else if (tag === RESPONSE) readResponse(reader.bytes(), draft);
      else reader.skip(tag);
    });
    // a connection that is still open must not be mistaken for one that has ended
    if (draft.type === DOWNSTREAM_PERIODIC) return draft;
    if (draft.type !== NOT_SET && draft.type !== DOWNSTREAM_END) return "intermediate";
    if (!draft.isFinal || !draft.forwarded) draft.request = readRequest(draft.requestBytes);
    return draft;
  } catch {
    return "malformed";
  }
}

const REMOTE = lengthField(2);
const START_TIME = lengthField(5);
const FIRST_BYTE_SENT = lengthField(7);
const LAST_BYTE_RECEIVED = lengthField(10);
const LAST_BYTE = lengthField(12);
const UPSTREAM_ADDRESS = lengthField(13);
const CLUSTER = lengthField(15);
const FLAGS = lengthField(16);
const METADATA = lengthField(17);
const PEER = lengthField(20);
const CUSTOM_TAG = lengthField(22);
const DURATION = lengthField(23);
const TYPE = varintField(33);

function readCommon(bytes: Buffer, draft: RawEntry): void {
  eachField(bytes, (reader, tag) => {
    switch (tag) {
      case START_TIME:
        draft.start = milliseconds(reader.bytes());
        break;
      case LAST_BYTE:
        draft.lastByte = milliseconds(reader.bytes());
        break;
      case FIRST_BYTE_SENT:
        draft.firstByteSent = milliseconds(reader.bytes());
        break;
      case LAST_BYTE_RECEIVED:
        draft.lastByteReceived = milliseconds(reader.bytes());
        break;
      case CLUSTER:
        draft.cluster = reader.bytes().toString("latin1", 0, MAX_NAME);
        break;
      case DURATION:
        draft.total = milliseconds(reader.bytes());
        break;
      case UPSTREAM_ADDRESS:
        draft.forwarded = reader.bytes().length > 0;
        break;
      case FLAGS:
        draft.flags = readFlags(reader.bytes());
        break;
      case REMOTE:
        draft.remote = readAddress(reader.bytes());
        break;
      case PEER:
        draft.peer = readAddress(reader.bytes());
        break;
      case CUSTOM_TAG:
        draft.tags.add(readMapEntry(reader.bytes()).key);
        break;
      case METADATA:
        readMetadata(reader.bytes(), draft);
        break;
      case TYPE:
        draft.type = reader.uint32();
        break;
      default:
        reader.skip(tag);
    }
  });
}

const RESPONSE_CODE = lengthField(1);
const BODY_BYTES = varintField(3);
const RESPONSE_HEADERS = lengthField(4);
const DETAILS = lengthField(6);
// UInt32Value
const WRAPPED = varintField(1);

function readResponse(bytes: Buffer, draft: RawEntry): void {
  eachField(bytes, (reader, tag) => {
    switch (tag) {
      case RESPONSE_CODE:
        eachField(reader.bytes(), (inner, innerTag) => {
          if (innerTag === WRAPPED) draft.responseCode = inner.uint32();
          else inner.skip(innerTag);
        });
        break;
      case BODY_BYTES:
        draft.responseBytes = reader.int64();
        break;
      case RESPONSE_HEADERS: {
        const { key, value } = readMapEntry(reader.bytes());
        if (key === "x-request-id") draft.answeredId = value.toString("latin1", 0, MAX_NAME);
        break;
      }
      case DETAILS:
        draft.details = reader.bytes().toString("utf8", 0, MAX_NAME);
        break;
      default:
        reader.skip(tag);
    }
  });
}

const FILTER_METADATA = lengthField(1);

/** The metadata under these names: what Lua recorded, and what the service sent with its permission. */
function readMetadata(bytes: Buffer, draft: RawEntry): void {
  eachField(bytes, (reader, tag) => {
    if (tag !== FILTER_METADATA) {
      reader.skip(tag);
      return;
    }
    const { key, value } = readMapEntry(reader.bytes());
    if (key === NAMESPACE.notes) readStrings(value, NOTES_READ, draft.noted);
    else if (key === NAMESPACE.decision) {
      readStrings(value, DECISION_READ, draft.decision);
      draft.isFinal = readFinal(value);
    }
  });
}

const NOTES_READ: readonly string[] = [NOTE.decision_id, NOTE.outcome, NOTE.state, NOTE.status];
const DECISION_READ: readonly string[] = [DECISION.decision_id, DECISION.record_id, DECISION.state_epoch];

const STRUCT_FIELDS = lengthField(1);
const STRING_VALUE = lengthField(3);
const BOOL_VALUE = varintField(4);

/** Whether the response that set it was a decision (encode.ts). */
function readFinal(struct: Buffer): boolean {
  let final = false;
  eachField(struct, (reader, tag) => {
    if (tag !== STRUCT_FIELDS) {
      reader.skip(tag);
      return;
    }
    const { key, value } = readMapEntry(reader.bytes());
    if (key !== DECISION.final) return;
    eachField(value, (inner, kind) => {
      if (kind === BOOL_VALUE) final = inner.uint32() !== 0;
      else inner.skip(kind);
    });
  });
  return final;
}

/** The string members of a google.protobuf.Struct with these names. */
function readStrings(struct: Buffer, names: readonly string[], found: Map<string, string>): void {
  eachField(struct, (reader, tag) => {
    if (tag !== STRUCT_FIELDS) {
      reader.skip(tag);
      return;
    }
    const { key, value } = readMapEntry(reader.bytes());
    if (!names.includes(key)) return;
    found.delete(key);
    eachField(value, (inner, kind) => {
      if (kind === STRING_VALUE) {
        const text = inner.bytes();
        found.set(key, text.length > MAX_OUTCOME ? "" : text.toString("utf8"));
      } else {
        inner.skip(kind);
        found.delete(key);
      }
    });
  });
}
