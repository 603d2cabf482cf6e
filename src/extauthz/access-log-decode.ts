import { DECISION, NOTE } from "../envoy-contract.ts";
import { DOWNSTREAM_PERIODIC, readEntry, type RawEntry } from "./access-log-entry.ts";
import type { LoggedFlags, LoggedRequest } from "./access-log-request.ts";
import { lengthField, MessageReader } from "./wire.ts";

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

function finish(
  draft: RawEntry,
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

function stoppedIn({ forwarded, flags, details, request }: RawEntry): Stopped | undefined {
  if (forwarded || flags.denied === true || ANSWERED.has(details)) return undefined;
  return { requestId: request.id };
}

function upstreamIn({ cluster, firstByteSent, lastByteReceived, noted }: RawEntry): LoggedUpstream {
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

function undecided(draft: RawEntry): UndecidedEntry {
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
