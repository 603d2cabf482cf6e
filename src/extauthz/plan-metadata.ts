import { handshakeAccept } from "../decision/headers/handshake-key.ts";
import type { CarriedPlan } from "../decision/point/index.ts";
import type { AccessRequest } from "../decision/types.ts";
import { HEADER, PLAN_VERSION, type DECISION } from "../envoy-contract.ts";

/** Where Lua finds the state of open connections: a file, and the run of the process that writes it. */
export interface StatePlace {
  readonly file: string;
  readonly epoch: string;
  /** The cluster of this process, if it identifies clients by the first messages of their connections. */
  readonly identify?: string;
}

/** With the names under which Lua and the access log read it. */
type DecisionMetadata = { readonly [Name in keyof typeof DECISION]?: string | number };

/** Set on requests that have a plan: our Envoy moves them to a route whose filters process the response. */
export const PLAN_HEADER: readonly [name: string, value: string] = [HEADER.plan, String(PLAN_VERSION)];

/** @returns the metadata of an allowed request that has a plan, for `envoy.filters.http.ext_authz`. */
export function planMetadata(
  { text, decisionId, websocket, graphql, expiresAt, slot, set }: CarriedPlan,
  access: AccessRequest,
  place: StatePlace,
): DecisionMetadata {
  const accept = websocket ? handshakeAccept(access) : undefined;
  return {
    plan: text,
    decision_id: decisionId,
    method: access.raw.method,
    request_id: access.requestId,
    ...(websocket && { state_file: place.file, state_epoch: place.epoch, expires_at: expiresAt }),
    ...(websocket && set !== undefined && { set }),
    ...(graphql && place.identify !== undefined && { identify: place.identify }),
    ...(accept !== undefined && { handshake_accept: accept }),
    ...(slot && { slot: slot.slot, generation: slot.generation }),
  };
}
