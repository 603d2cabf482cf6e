import type { AccessRequest, Denial, Permit } from "../types.ts";
import type { CorsGrant } from "../headers/cors-headers.ts";
import type { DenialResponse } from "../denial/denial.ts";
import type { CarriedPlan } from "./carried-plan.ts";
import type { HeaderChanges } from "./upstream-headers.ts";

/**
 * What a permit may require besides forwarding the request. If the caller cannot do it, the request is denied.
 *
 * `request_headers`: remove headers that the application must not get. `response`: mask the response. `preflight`:
 * deliver only the CORS headers of the response. `messages`: evaluate each WebSocket message. `connection`: close a
 * WebSocket connection when its permission ends.
 */
export type Task = "request_headers" | "response" | "preflight" | "messages" | "connection";

/** The context of a call. */
export interface DoorCall {
  /** Deadline in Unix ms, or Infinity. An answer after it is useless. */
  readonly deadline: number;
  /** W3C trace context of the call itself, if the caller traces it. */
  readonly traceparent?: string;
  /** Whether the caller no longer wants the answer. */
  readonly isCancelled?: () => boolean;
  /** Milliseconds from the start of the request to the call, from a caller that reports undecided requests. */
  readonly askedAfter?: number;
}

/** In place of an answer: the caller has given up, and reports that itself. */
export const GIVEN_UP = Symbol("given up");

/** A message decoded by a door. */
export interface DecodedCheck {
  readonly access: AccessRequest;
  /** What the caller carries out for this request. */
  readonly carries: ReadonlySet<Task>;
  /** Of a caller that removes no headers: those that it replaces for the application whatever the client sent. */
  readonly overwrites?: ReadonlySet<string>;
  /** The caller is an Envoy, which removes what clients send under `x-envoy-`. */
  readonly behindEnvoy?: true;
  /** The caller forwards any upgrade, and then raw bytes. */
  readonly tunnels?: boolean;
  /**
   * The caller's own id of the request, equal for repeated checks: one handshake is one connection. Absent if every
   * check is for a new request. Clients must never choose it.
   */
  readonly streamId?: string;
  /** The caller itself reports each request that ended without our decision: such a request gets its record then. */
  readonly reportsUndecided?: boolean;
  /** The caller periodically reports which connections are open. */
  readonly reportsConnections?: boolean;
  /** Why nothing that is permitted can be enforced for this request; absent if it can. */
  readonly unenforceable?: string;
  /** Present if a page of the request's origin may read denials. Found by the decision point's server, not by doors. */
  readonly cors?: CorsGrant;
  /** Names of forged headers that were removed from the request; absent if there are none. */
  readonly forged?: readonly string[];
}

/** What is sent with a permit. */
export interface Effects {
  /** If possible, the same object for the same caller, so that a door can cache its encoding. */
  readonly headers: HeaderChanges;
  /** What is left to do with the response or on the connection. */
  readonly plan: CarriedPlan | undefined;
  /** Present if the door identifies decisions, or there is a plan. */
  readonly decisionId: string | undefined;
}

/** Encodes answers. If it throws, the request is denied; if a denial cannot be encoded, `lastResort` is sent. */
export interface Encoder<Answer> {
  permit(permit: Permit, check: DecodedCheck, effects: Effects): Answer;
  /** @param check - absent if the message could not be decoded */
  denial(
    denial: Denial,
    check: DecodedCheck | undefined,
    response: DenialResponse,
    decisionId: string | undefined,
  ): Answer;
  /** A denial encoded in advance. */
  readonly lastResort: Answer;
  /** Asks for the request's body, without a decision. For doors with `bodies: "on_request"`. */
  readonly bodyRequest?: Answer;
}

/** What is known of a door before any request. */
export interface DoorAbilities {
  /** The most that it carries for any request. */
  readonly carries: ReadonlySet<Task>;
  readonly sendsBodies: boolean;
  /** Members of `request` that it never tells. */
  readonly hides?: ReadonlySet<"protocol">;
}

/** An interface through which decisions are requested. */
export interface Door<Message, Answer> {
  /** Decodes a message. If it throws, the request is denied. */
  decode(message: Message, call: DoorCall): DecodedCheck;
  readonly encode: Encoder<Answer>;
  /** Each decision gets its id before it is recorded, and the answer contains it. */
  readonly namesDecisions?: boolean;
}
