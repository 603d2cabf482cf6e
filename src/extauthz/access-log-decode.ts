import { DECISION, NAMESPACE, NOTE } from "../envoy-contract.ts";
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
  /** There was something to carry out; otherwise it is here only because every request is, or because it was stopped. */
  readonly planned: boolean;
  readonly flags: LoggedFlags;
  readonly upstream: LoggedUpstream;
}

/** What is known of the application's part. */
export interface LoggedUpstream {
  /** Empty where none was chosen. */
  readonly cluster: string;
  /** From the first byte sent to it to its last; ms. */
  readonly durationMs?: number;
  /** With which it answered what had a plan; Lua may have delivered another one. */
  readonly status?: number;
}

/** What is known of a request that was allowed and not sent on. */
export interface Stopped {
  readonly requestId: string;
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
  /** The connection that this decision let in is open. */
  readonly open: (decisionId: string) => void;
  /** Called besides, for each flag by which Envoy says that the application failed. */
  readonly failed: (cluster: string, flag: string) => void;
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
export function readAccessLog(bytes: Buffer, readers: AccessLogReaders, options: AccessLogOptions): void {
  const { planned, undecided, open, failed, passOver } = readers;
  for (const entry of entriesOf(bytes)) {
    const draft = entry === undefined ? "malformed" : readEntry(entry);
    if (typeof draft === "string") {
      passOver(draft);
      continue;
    }
    if (draft.type === DOWNSTREAM_PERIODIC) {
      const id = draft.decision.get(DECISION.decision_id);
      if (id !== undefined && draft.decision.has(DECISION.state_epoch) && DECISION_ID.test(id)) open(id);
      else passOver("intermediate");
      continue;
    }
    const { upstream: failures = [] } = draft.flags;
    for (const flag of failures) failed(draft.cluster, flag);
    const read = finish(draft, options);
    // a failure was what there was to say
    if (read === "no_plan" && failures.length > 0) continue;
    if (typeof read === "string") passOver(read);
    else if ("decisionId" in read) planned(read);
    else undecided(read);
  }
}

export interface AccessLogOptions {
  /** Every allowed request is an outcome, also one without a plan. */
  readonly everyRequest: boolean;
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
  firstByteSent: number | undefined;
  lastByteReceived: number | undefined;
  cluster = "";
  total: number | undefined;
  responseCode = 0;
  responseBytes = 0;
  details = "";
  /** With which the client was answered. */
  answeredId = "";
  peer = "";
  flags: LoggedFlags = {};
  forwarded = false;
  isFinal = false;
  /** Read where it is needed: where no decision was made, or nothing was sent on. */
  requestBytes: Buffer | undefined;
  request: LoggedRequest = readRequest(undefined);
  readonly noted = new Map<string, string>();
  readonly decision = new Map<string, string>();
}

/** AccessLogType: what it is where Envoy writes at the end only, and where it writes at other moments, too. */
const NOT_SET = 0;
const DOWNSTREAM_PERIODIC = 5;
const DOWNSTREAM_END = 6;

const COMMON = lengthField(1);
const REQUEST = lengthField(3);
const RESPONSE = lengthField(4);

function readEntry(bytes: Buffer): Draft | "intermediate" | "malformed" {
  const draft = new Draft();
  try {
    eachField(bytes, (reader, tag) => {
      if (tag === COMMON) readCommon(reader.bytes(), draft);
      else if (tag === REQUEST) draft.requestBytes = reader.bytes();
      else if (tag === RESPONSE) readResponse(reader.bytes(), draft);
      else reader.skip(tag);
    });
    // a connection that is still open must not be taken for one that is gone
    if (draft.type === DOWNSTREAM_PERIODIC) return draft;
    if (draft.type !== NOT_SET && draft.type !== DOWNSTREAM_END) return "intermediate";
    if (!draft.isFinal || !draft.forwarded) draft.request = readRequest(draft.requestBytes);
    return draft;
  } catch {
    return "malformed";
  }
}

function finish(
  draft: Draft,
  { everyRequest }: AccessLogOptions,
): AccessLogEntry | UndecidedEntry | "no_plan" | "malformed" {
  const { noted, decision, flags } = draft;
  // where the answer never came, or the client left before it, Lua has noted nothing
  const planned = noted.get(NOTE.decision_id) ?? decision.get(DECISION.decision_id);
  if (planned === undefined && !draft.isFinal) return undecided(draft);
  const stopped = stoppedIn(draft);
  const named = decision.get(DECISION.record_id);
  const isWanted = everyRequest && named !== undefined && flags.denied !== true;
  if (planned === undefined && stopped === undefined && !isWanted) return "no_plan";
  const id = planned ?? named;
  if (id !== undefined && !DECISION_ID.test(id)) return "malformed";
  const outcome = noted.get(NOTE.outcome);
  const state = noted.get(NOTE.state);
  return {
    decisionId: id ?? "",
    planned: planned !== undefined,
    flags,
    upstream: upstreamIn(draft),
    ...(stopped && { stopped }),
    ...(outcome !== undefined && { outcome }),
    ...(state !== undefined && { state }),
    handshake: decision.has(DECISION.state_epoch),
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
  return { requestId: request.id };
}

function upstreamIn({ cluster, firstByteSent, lastByteReceived, noted }: Draft): LoggedUpstream {
  const took =
    firstByteSent === undefined || lastByteReceived === undefined
      ? undefined
      : lastByteReceived - firstByteSent;
  const status = noted.get(NOTE.status);
  return {
    cluster,
    ...(took !== undefined && took >= 0 && { durationMs: took }),
    ...(status !== undefined && /^[1-9]\d{2}$/.test(status) && { status: Number(status) }),
  };
}

function undecided(draft: Draft): UndecidedEntry {
  return {
    startedAt: draft.start,
    responseCode: draft.responseCode,
    details: draft.details,
    flags: draft.flags,
    peer: draft.peer,
    // what Envoy refuses early may still have the id that the client made up
    request: draft.answeredId === "" ? draft.request : { ...draft.request, id: draft.answeredId },
    forwarded: draft.forwarded,
  };
}

const START_TIME = lengthField(5);
const FIRST_BYTE_SENT = lengthField(7);
const LAST_BYTE_RECEIVED = lengthField(10);
const LAST_BYTE = lengthField(12);
const UPSTREAM_ADDRESS = lengthField(13);
const CLUSTER = lengthField(15);
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
const RESPONSE_HEADERS = lengthField(4);
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

/** Under these names: what Lua noted, and what the service itself sent along with its permission. */
function readMetadata(bytes: Buffer, draft: Draft): void {
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

/** Whether the answer that it came with was a decision (encode.ts). */
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
