import type { AccessRequest, Denial, Permit } from "../types.ts";
import type { DenialResponse } from "../denial/denial.ts";
import type { CarriedPlan } from "./carried-plan.ts";
import type { HeaderChanges } from "./upstream-headers.ts";

/**
 * What a permit may leave to do besides letting the request pass. Whoever asks has to do it, or the permit is none.
 *
 * `request_headers`: headers are taken from the request that the application must not get.
 * `response`: the answer is masked. `preflight`: of the answer only headers of CORS are delivered.
 * `messages`: WebSocket messages are evaluated one by one. `connection`: a WebSocket connection ends when its permission does.
 */
export type Task = "request_headers" | "response" | "preflight" | "messages" | "connection";

/** What a call says beside its message. */
export interface DoorCall {
  /** Unix ms, or Infinity: an answer after this is worthless. */
  readonly deadline: number;
  /** W3C trace context of the call itself, where whoever asks traces it. */
  readonly traceparent?: string;
  /** Whether whoever asked no longer wants the answer. */
  readonly isCancelled?: () => boolean;
}

/** A message that a door has read. */
export interface Asked {
  readonly access: AccessRequest;
  /** What is done for this very request by whoever asks. */
  readonly carries: ReadonlySet<Task>;
  /**
   * The caller's own id of the request, the same however often it asks: one handshake is one connection. Absent where each
   * question is about another request; never one that clients choose.
   */
  readonly streamId?: string;
  /** The caller says from time to time which connections are open. */
  readonly reportsConnections?: boolean;
  /** Names of headers that the client made up, and that the request is without; absent where there are none. */
  readonly forged?: readonly string[];
}

/** What goes along with a permit. */
export interface Effects {
  /** The same object for the same caller wherever it can be, so that what a door makes of it can be kept. */
  readonly headers: HeaderChanges;
  /** What is left to do with the answer, or on the connection. */
  readonly plan: CarriedPlan | undefined;
  /** Where the door names decisions, or there is a plan. */
  readonly decisionId: string | undefined;
}

/** Writes answers. What it throws becomes a denial; where a denial cannot be written, `lastResort` is sent. */
export interface Encoder<Answer> {
  permit(permit: Permit, asked: Asked, effects: Effects): Answer;
  /** @param asked - absent where the message could not be read */
  denial(
    denial: Denial,
    asked: Asked | undefined,
    response: DenialResponse,
    decisionId: string | undefined,
  ): Answer;
  /** A denial, made beforehand. */
  readonly lastResort: Answer;
  /** Asks for the request's body; it decides nothing. Of doors that read `bodies: "on_request"`. */
  readonly bodyRequest?: Answer;
}

/** A way to be asked for decisions. */
export interface Door<Message, Answer> {
  /** Reads a message. What it throws becomes a denial. */
  decode(message: Message, call: DoorCall): Asked;
  readonly encode: Encoder<Answer>;
  /** Each decision has its id before it is recorded, and the answer says it. */
  readonly namesDecisions?: boolean;
}
