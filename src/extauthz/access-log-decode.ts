import { eachField, MAX_NAME, milliseconds, readMapEntry } from "./access-log-fields.ts";
import {
  readAddress,
  readFlags,
  readRequest,
  type LoggedFlags,
  type LoggedRequest,
} from "./access-log-request.ts";
import { lengthField, MessageReader, varintField } from "./wire.ts";

/** One request that had a plan, or was allowed and not sent on, and is over, as Envoy's access log tells it. */
export interface AccessLogEntry {
  /** Empty where there was no plan. */
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
  /** It was allowed, and came to nothing before an application had anything of it. */
  readonly stopped?: Stopped;
}

/** What is known of a request that was allowed and not sent on. */
export interface Stopped {
  readonly requestId: string;
  readonly flags: LoggedFlags;
}

/** One request that is over without a decision of ours: Envoy has refused it, or its client has gone. */
export interface UndecidedEntry {
  readonly startedAt: number | undefined;
  readonly responseCode: number;
  readonly details: string;
  readonly flags: LoggedFlags;
  /** The connection's other end. */
  readonly peer: string;
  /** Empty as far as the request could not be read. */
  readonly request: LoggedRequest;
  /** It was sent on to an application. */
  readonly forwarded: boolean;
}

/** What is done with entries. */
export interface AccessLogReaders {
  readonly planned: (entry: AccessLogEntry) => void;
  readonly undecided: (entry: UndecidedEntry) => void;
  /** Called for each other entry; and once where the message ends within one. */
  readonly passOver: (why: PassedOver) => void;
}

/** Why an entry is passed over: not the end of a request; decided, and nothing more to say; not well-formed. */
export type PassedOver = "intermediate" | "no_plan" | "malformed";

/** Bytes. */
const MAX_OUTCOME = 65_536;

/** Of our own ids (audit/decision-id.ts), with room for others. */
const DECISION_ID = /^[\w-]{1,64}$/;

const HTTP_LOGS = lengthField(2);
const LOG_ENTRY = lengthField(1);

/** Reads a StreamAccessLogsMessage entry by entry, so that a malformed one costs no other. Never throws. */
export function readAccessLog(bytes: Buffer, { planned, undecided, passOver }: AccessLogReaders): void {
  for (const entry of entriesOf(bytes)) {
    const read = entry && readEntry(entry);
    if (read === undefined) passOver("malformed");
    else if (typeof read === "string") passOver(read);
    else if ("decisionId" in read) planned(read);
    else undecided(read);
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
  peer = "";
  flags: LoggedFlags = {};
  forwarded = false;
  isFinal = false;
  /** Read when it is needed. */
  request: Buffer | undefined;
  readonly noted = new Map<string, string>();
  readonly decision = new Map<string, string>();
}

/** AccessLogType: what it is where Envoy writes at the end only, and where it writes at other moments, too. */
const NOT_SET = 0;
const DOWNSTREAM_END = 6;

const COMMON = lengthField(1);
const REQUEST = lengthField(3);
const RESPONSE = lengthField(4);

function readEntry(bytes: Buffer): AccessLogEntry | UndecidedEntry | PassedOver {
  const draft = new Draft();
  try {
    eachField(bytes, (reader, tag) => {
      if (tag === COMMON) readCommon(reader.bytes(), draft);
      else if (tag === REQUEST) draft.request = reader.bytes();
      else if (tag === RESPONSE) readResponse(reader.bytes(), draft);
      else reader.skip(tag);
    });
    // a connection that is still open must not be taken for one that is gone
    if (draft.type !== NOT_SET && draft.type !== DOWNSTREAM_END) return "intermediate";
    return finish(draft);
  } catch {
    return "malformed";
  }
}

function finish(draft: Draft): AccessLogEntry | UndecidedEntry | PassedOver {
  const { noted, decision } = draft;
  // where the answer never came, or the client left before it, Lua has noted nothing
  const planned = noted.get("decision_id") ?? decision.get("decision_id");
  if (planned === undefined && !draft.isFinal) return undecided(draft);
  const stopped = stoppedIn(draft);
  if (planned === undefined && stopped === undefined) return "no_plan";
  if (planned !== undefined && !DECISION_ID.test(planned)) return "malformed";
  const outcome = noted.get("outcome");
  const state = noted.get("state");
  return {
    decisionId: planned ?? "",
    ...(stopped && { stopped }),
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

/** Envoy's words for answers that are not its own refusals. */
const ANSWERED = new Set(["via_upstream", "direct_response", "ext_authz_denied"]);

function stoppedIn({ forwarded, flags, details, request }: Draft): Stopped | undefined {
  if (forwarded || flags.denied === true || ANSWERED.has(details)) return undefined;
  return { requestId: readRequest(request).id, flags };
}

function undecided(draft: Draft): UndecidedEntry {
  return {
    startedAt: draft.start,
    responseCode: draft.responseCode,
    details: draft.details,
    flags: draft.flags,
    peer: draft.peer,
    request: readRequest(draft.request),
    forwarded: draft.forwarded,
  };
}

const START_TIME = lengthField(5);
const LAST_BYTE = lengthField(12);
const UPSTREAM_ADDRESS = lengthField(13);
const FLAGS = lengthField(16);
const METADATA = lengthField(17);
const PEER = lengthField(20);
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
      case UPSTREAM_ADDRESS:
        draft.forwarded = reader.bytes().length > 0;
        break;
      case FLAGS:
        draft.flags = readFlags(reader.bytes());
        break;
      case PEER:
        draft.peer = readAddress(reader.bytes());
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
    else if (key === "envoy.filters.http.ext_authz") {
      readStrings(value, DECISION, draft.decision);
      draft.isFinal = readFinal(value);
    }
  });
}

const NOTED = ["decision_id", "outcome", "state"];
const DECISION = ["decision_id", "state_epoch"];

const STRUCT_FIELDS = lengthField(1);
const STRING_VALUE = lengthField(3);
const BOOL_VALUE = varintField(4);

/** Whether the answer that it came with was a decision (encode.ts). */
function readFinal(struct: Buffer): boolean {
  let final = false;
  eachField(struct, (reader, tag) => {
    if (tag !== STRUCT_FIELDS) {
      reader.skip(tag);
      return;
    }
    const { key, value } = readMapEntry(reader.bytes());
    if (key !== "final") return;
    eachField(value, (inner, kind) => {
      if (kind === BOOL_VALUE) final = inner.uint32() !== 0;
      else inner.skip(kind);
    });
  });
  return final;
}

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
