import { lengthField, MessageReader, varintField } from "./wire.ts";

/** One request that had a plan and is over, as Envoy's access log tells it. */
export interface AccessLogEntry {
  readonly decisionId: string;
  /** What Lua noted; empty where that is more than it ever notes. */
  readonly outcome?: string;
  /** How far Lua had come with the answer: `done`, or `stream` while parts of it pass. */
  readonly state?: string;
  /** It was a WebSocket handshake that was let in. */
  readonly handshake: boolean;
  /** Unix ms; undefined where Envoy does not say. */
  readonly startedAt: number | undefined;
  /** To the last byte sent to the client; ms. */
  readonly answeredAfter: number | undefined;
  /** To the end of the stream; ms. */
  readonly endedAfter: number | undefined;
  /** 0 where nothing was answered. */
  readonly responseCode: number;
  readonly responseBytes: number;
  /** Envoy's `response_code_details`. */
  readonly details: string;
}

/** Why an entry is passed over: not the end of a request; about one without a plan; not well-formed. */
export type PassedOver = "intermediate" | "no_decision" | "malformed";

/** Bytes. */
const MAX_OUTCOME = 65_536;
const MAX_NAME = 256;

/** Of our own ids (audit/decision-id.ts), with room for others. */
const DECISION_ID = /^[\w-]{1,64}$/;

const HTTP_LOGS = lengthField(2);
const LOG_ENTRY = lengthField(1);

/**
 * Reads a StreamAccessLogsMessage entry by entry, so that a malformed one costs no other. Never throws.
 *
 * @param take - called for each request that is over and had a plan
 * @param passOver - called for each other entry; and once where the message ends within one
 */
export function readAccessLog(
  bytes: Buffer,
  take: (entry: AccessLogEntry) => void,
  passOver: (why: PassedOver) => void,
): void {
  for (const entry of entriesOf(bytes)) {
    const read = entry && readEntry(entry);
    if (read === undefined) passOver("malformed");
    else if (typeof read === "string") passOver(read);
    else take(read);
  }
}

/** The bytes of each entry; undefined, at last, where the message breaks off. */
function entriesOf(bytes: Buffer): readonly (Buffer | undefined)[] {
  const entries: (Buffer | undefined)[] = [];
  try {
    const reader = new MessageReader(bytes);
    for (let tag = reader.next(); tag !== 0; tag = reader.next()) {
      if (tag !== HTTP_LOGS) {
        reader.skip(tag);
        continue;
      }
      const outer = reader.enter();
      for (let inner = reader.next(); inner !== 0; inner = reader.next()) {
        if (inner === LOG_ENTRY) entries.push(reader.bytes());
        else reader.skip(inner);
      }
      reader.leave(outer);
    }
  } catch {
    entries.push(undefined);
  }
  return entries;
}

/** What has been read of one entry so far. */
class Draft {
  type = NOT_SET;
  start: number | undefined;
  lastByte: number | undefined;
  total: number | undefined;
  responseCode = 0;
  responseBytes = 0;
  details = "";
  readonly noted = new Map<string, string>();
  readonly decision = new Map<string, string>();
}

/** AccessLogType: what it is where Envoy writes at the end only, and where it writes at other moments, too. */
const NOT_SET = 0;
const DOWNSTREAM_END = 6;

const COMMON = lengthField(1);
const RESPONSE = lengthField(4);

function readEntry(bytes: Buffer): AccessLogEntry | PassedOver {
  const draft = new Draft();
  try {
    eachField(bytes, (reader, tag) => {
      if (tag === COMMON) readCommon(reader.bytes(), draft);
      else if (tag === RESPONSE) readResponse(reader.bytes(), draft);
      else reader.skip(tag);
    });
  } catch {
    return "malformed";
  }
  // a connection that is still open must not be taken for one that is gone
  if (draft.type !== NOT_SET && draft.type !== DOWNSTREAM_END) return "intermediate";
  return finish(draft);
}

function finish(draft: Draft): AccessLogEntry | PassedOver {
  const { noted, decision } = draft;
  // where the answer never came, or the client left before it, Lua has noted nothing
  const decisionId = noted.get("decision_id") ?? decision.get("decision_id");
  if (decisionId === undefined) return "no_decision";
  if (!DECISION_ID.test(decisionId)) return "malformed";
  const outcome = noted.get("outcome");
  const state = noted.get("state");
  return {
    decisionId,
    ...(outcome !== undefined && { outcome }),
    ...(state !== undefined && { state }),
    handshake: decision.has("state_epoch"),
    startedAt: draft.start,
    answeredAfter: draft.lastByte,
    endedAfter: draft.total,
    responseCode: draft.responseCode,
    responseBytes: draft.responseBytes,
    details: draft.details,
  };
}

const START_TIME = lengthField(5);
const LAST_BYTE = lengthField(12);
const METADATA = lengthField(17);
const DURATION = lengthField(23);
const TYPE = varintField(33);

function readCommon(bytes: Buffer, draft: Draft): void {
  eachField(bytes, (reader, tag) => {
    switch (tag) {
      case START_TIME:
        draft.start = milliseconds(reader.bytes());
        break;
      case LAST_BYTE:
        draft.lastByte = milliseconds(reader.bytes());
        break;
      case DURATION:
        draft.total = milliseconds(reader.bytes());
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

// Timestamp and Duration are alike
const SECONDS = varintField(1);
const NANOS = varintField(2);
/** The end of what a JavaScript date can say. */
const MAX_TIME = 8.64e15;

function milliseconds(bytes: Buffer): number | undefined {
  let seconds = 0;
  let nanos = 0;
  eachField(bytes, (reader, tag) => {
    if (tag === SECONDS) seconds = reader.int64();
    else if (tag === NANOS) nanos = reader.uint32();
    else reader.skip(tag);
  });
  const time = seconds * 1000 + nanos / 1e6;
  return seconds >= 0 && nanos < 1e9 && time <= MAX_TIME ? time : undefined;
}

const RESPONSE_CODE = lengthField(1);
const BODY_BYTES = varintField(3);
const DETAILS = lengthField(6);
// UInt32Value
const WRAPPED = varintField(1);

function readResponse(bytes: Buffer, draft: Draft): void {
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
      case DETAILS:
        draft.details = reader.bytes().toString("utf8", 0, MAX_NAME);
        break;
      default:
        reader.skip(tag);
    }
  });
}

const FILTER_METADATA = lengthField(1);

/** Under these names: what Lua noted, and what the service itself sent along with its permission. */
function readMetadata(bytes: Buffer, draft: Draft): void {
  eachField(bytes, (reader, tag) => {
    if (tag !== FILTER_METADATA) {
      reader.skip(tag);
      return;
    }
    const { key, value } = readMapEntry(reader.bytes());
    if (key === "gatehouse") readStrings(value, NOTED, draft.noted);
    else if (key === "envoy.filters.http.ext_authz") readStrings(value, DECISION, draft.decision);
  });
}

const NOTED = ["decision_id", "outcome", "state"];
const DECISION = ["decision_id", "state_epoch"];

const KEY = lengthField(1);
const VALUE = lengthField(2);
const NOTHING = Buffer.alloc(0);

function readMapEntry(bytes: Buffer): { readonly key: string; readonly value: Buffer } {
  let key = "";
  let value: Buffer = NOTHING;
  eachField(bytes, (reader, tag) => {
    if (tag === KEY) key = reader.bytes().toString("utf8", 0, MAX_NAME);
    else if (tag === VALUE) value = reader.bytes();
    else reader.skip(tag);
  });
  return { key, value };
}

const STRUCT_FIELDS = lengthField(1);
const STRING_VALUE = lengthField(3);

/** The members of a google.protobuf.Struct of these names, as far as they are strings. */
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

/** Each message is read from bytes of its own: its fields are counted for itself, and it cannot end elsewhere. */
function eachField(bytes: Buffer, read: (reader: MessageReader, tag: number) => void): void {
  const reader = new MessageReader(bytes);
  for (let tag = reader.next(); tag !== 0; tag = reader.next()) read(reader, tag);
}
