import type { ConnectionSlot } from "../decision/connection-slots.ts";
import type { AccessRequest, Decision } from "../decision/types.ts";
import { HEADER, PLAN_VERSION, type DECISION } from "../envoy-contract.ts";
import type { PlanIR } from "../policy/index.ts";

/** A plan as it goes to Envoy. */
export interface EncodedPlan {
  readonly decisionId: string;
  /** The plan's JSON, which Lua keeps by this very text. */
  readonly text: string;
  readonly websocket: boolean;
  /** Unix seconds at which a connection ends: with the caller's token, or after a day. */
  readonly expiresAt: number;
  /** For `envoy.filters.http.ext_authz`. */
  readonly metadata: DecisionMetadata;
}

/** By the names under which Lua and the access log look for it. */
type DecisionMetadata = { readonly [Name in keyof typeof DECISION]?: string | number };

/** WebSocket connections that were let in and are looked after from then on. */
export interface OpenConnections {
  /** Where Lua finds what became of them: a file, and which process's life it is from. */
  readonly place: { readonly file: string; readonly epoch: string };
  /**
   * @param handshake - `key` names it: one that is asked about twice is one connection; `reported`: Envoy says from time
   *   to time that the connection is open
   * @returns why no more can be looked after; the handshake is denied then
   */
  add(
    plan: EncodedPlan,
    access: AccessRequest,
    decision: Decision,
    handshake: { readonly key: string; readonly reported: boolean },
  ): "TOO_MANY_CONNECTIONS" | "TOO_MANY_CONNECTIONS_OF_USER" | undefined;
  /** By which Lua knows the connection; undefined where it is not looked after. */
  slotOf(decisionId: string): ConnectionSlot | undefined;
  /** The decision is not carried out after all. */
  withdraw(decisionId: string): void;
  /** Whether Envoy has said already that the client of this request is gone. */
  hasLeft(requestId: string): boolean;
}

/** Set on requests that have a plan: our Envoy moves them to a route whose filters look into the answer. */
export const PLAN_HEADER: readonly [name: string, value: string] = [HEADER.plan, String(PLAN_VERSION)];

/**
 * What is planned has to be carried out by the proxy's filters.
 *
 * @param plans - the version of plans that the route says it carries out
 * @returns the decision; a denial where there is something to carry out and nobody to do it
 */
export function enforceable(decision: Decision, plans: string | undefined): Decision {
  const { verdict, plan } = decision;
  if (verdict === "DENY" || plan === undefined || plans === String(plan.ir)) return decision;
  if (isEssential(plan)) return { ...decision, verdict: "DENY", reason: "PLAN_NOT_ENFORCEABLE" };
  const rest: { -readonly [Key in keyof Decision]: Decision[Key] } = { ...decision };
  delete rest.plan;
  return rest;
}

/** There is more in it than that a connection, which a path rule permits, ends in time. */
function isEssential({ response, preflight, websocket }: PlanIR): boolean {
  if (response !== undefined || preflight === true || websocket === undefined) return true;
  const { send, receive, fields, graphql, plain } = websocket;
  return !plain || [send, receive, fields, graphql].some((part) => part !== undefined);
}

/** Connections of callers without a token end, too: nobody could say that their permission is gone. */
const LONGEST_SECONDS = 86_400;

/** @returns what goes along with an allowed request that has a plan. */
export function planMetadata(
  { verdict, plan, identity }: Decision,
  access: AccessRequest,
  nextDecisionId: () => string,
  place: OpenConnections["place"],
): EncodedPlan | undefined {
  if (verdict !== "ALLOW" || plan === undefined) return undefined;
  const decisionId = nextDecisionId();
  const text = JSON.stringify(plan);
  const websocket = plan.websocket !== undefined;
  const expiresAt = Math.min(
    identity?.expiresAt ?? Infinity,
    Math.floor(Date.now() / 1000) + LONGEST_SECONDS,
  );
  const metadata: DecisionMetadata = {
    plan: text,
    decision_id: decisionId,
    method: access.raw.method,
    request_id: access.requestId,
    ...(websocket && { state_file: place.file, state_epoch: place.epoch, expires_at: expiresAt }),
  };
  return { decisionId, text, websocket, expiresAt, metadata };
}

/** @returns the plan with what Lua knows the connection by */
export function inSlot(plan: EncodedPlan, slot: ConnectionSlot | undefined): EncodedPlan {
  if (slot === undefined) return plan;
  return { ...plan, metadata: { ...plan.metadata, slot: slot.slot, generation: slot.generation } };
}
