import { DECISION, LOG_TAG, NOTE } from "../envoy-contract.ts";
import { DOWNSTREAM_PERIODIC, readEntry, type RawEntry } from "./access-log-entry.ts";
import type { LoggedFlags, LoggedRequest } from "./access-log-request.ts";
import { lengthField, MessageReader } from "./wire.ts";

/** A request that has ended and had a plan, or was allowed but not forwarded, as reported by Envoy's access log. */
export interface AccessLogEntry {
  /** Empty if there was no plan. */
  readonly decisionId: string;
  /** What Lua recorded; empty if it is longer than Lua ever records. */
  readonly outcome?: string;
  /** Lua's progress with the response: `done`, or `stream` while parts of it pass. */
  readonly state?: string;
  /** It was a permitted WebSocket handshake. */
  readonly handshake: boolean;
  /** Unix ms; undefined if Envoy does not report it. */
  readonly startedAt: number | undefined;
  /** Until the last byte sent to the client; ms. */
  readonly answeredAfter: number | undefined;
  /** Until the end of the stream; ms. */
  readonly endedAfter: number | undefined;
  /** 0 if there was no response. */
  readonly responseCode: number;
  readonly responseBytes: number;
  /** Envoy's `response_code_details`. */
  readonly details: string;
  /** It was allowed, but ended before any application received it. */
  readonly stopped?: Stopped;
  /**
   * There was a plan to carry out; otherwise it is reported only because every request is, or because it was stopped.
   */
  readonly planned: boolean;
  readonly flags: LoggedFlags;
  readonly upstream: LoggedUpstream;
}

/** What is known about the application's part. */
export interface LoggedUpstream {
  /** Empty if no application was chosen. */
  readonly cluster: string;
  /** From the first byte sent to it to its last byte; ms. */
  readonly durationMs?: number;
  /** The application's status for a request with a plan; Lua may have delivered another one. */
  readonly status?: number;
}

/** What is known about a request that was allowed but not forwarded. */
export interface Stopped {
  readonly requestId: string;
}

/** A request that ended without a decision of ours: Envoy refused it, or its client disconnected. */
export interface UndecidedEntry {
  readonly startedAt: number | undefined;
  readonly responseCode: number;
  readonly details: string;
  readonly flags: LoggedFlags;
  /** The peer of the connection. */
  readonly peer: string;
  /** The client, if the peer says so by the PROXY protocol. */
  readonly remote: string;
  /** Empty as far as Envoy could not read the request. */
  readonly request: LoggedRequest;
  /** It was forwarded to an application. */
  readonly forwarded: boolean;
  /** Envoy let its last check begin, and did not refuse it because of the number of those under way. */
  readonly checkBegan: boolean;
  /** Until the end of the stream; ms. */
  readonly endedAfter: number | undefined;
}

/** Receives the entries. */
export interface AccessLogReaders {
  readonly planned: (entry: AccessLogEntry) => void;
  readonly undecided: (entry: UndecidedEntry) => void;
  /** The connection that this decision permitted is open. */
  readonly open: (decisionId: string) => void;
  /** Also called for each flag by which Envoy reports that the application failed. */
  readonly failed: (cluster: string, flag: string) => void;
  /** Called for each other entry; and once if the message ends within an entry. */
  readonly passOver: (why: PassedOver) => void;
}

/**
 * Why an entry is skipped: it is not the end of a request; it has a decision, and nothing else to report; it is
 * malformed.
 */
export type PassedOver = "intermediate" | "no_plan" | "malformed";

/** The form of our own ids (audit/decision-id.ts), with room for others. */
const DECISION_ID = /^[\w-]{1,64}$/;

const HTTP_LOGS = lengthField(2);
const LOG_ENTRY = lengthField(1);

/**
 * Reads a StreamAccessLogsMessage entry by entry, so that a malformed entry does not affect the others. Never throws.
 */
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
    // the failure was all there was to report
    if (read === "no_plan" && failures.length > 0) continue;
    if (typeof read === "string") passOver(read);
    else if ("decisionId" in read) planned(read);
    else undecided(read);
  }
}

export interface AccessLogOptions {
  /** Every allowed request is an outcome, even without a plan. */
  readonly everyRequest: boolean;
}

/** The bytes of each entry; finally undefined if the message is truncated. */
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
  // if there was no response, or the client disconnected before it, Lua has recorded nothing
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

/** Envoy's details for responses that are not its own refusals. */
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
    remote: draft.remote,
    // a request that Envoy refuses early may still have the id that the client made up
    request: draft.answeredId === "" ? draft.request : { ...draft.request, id: draft.answeredId },
    forwarded: draft.forwarded,
    checkBegan: draft.tags.has(
      draft.tags.has(LOG_TAG.body_check_us) ? LOG_TAG.body_check_bytes : LOG_TAG.check_bytes,
    ),
    endedAfter: draft.total,
  };
}
