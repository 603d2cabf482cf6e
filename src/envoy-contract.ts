import { GRAPHQL, GRAPHQL_TEXT } from "./graphql/refusals.ts";
import { IR_VERSION } from "./policy/ir.ts";
import type { MessageCode } from "./policy/message/evaluate-message.ts";

/**
 * What the service, Envoy's configuration and the Lua in Envoy share: where each finds what the others have left, and the
 * words for it. TypeScript imports these tables, and Lua has them as the module `gatehouse.contract`
 * (gateway/lua-contract.ts): neither side spells any of it again, which test/gateway/envoy/contract.test.ts checks.
 */

/** Names that are their own values. */
function names<const Name extends string>(...list: readonly Name[]): { readonly [N in Name]: N } {
  return Object.fromEntries(list.map((name) => [name, name])) as { readonly [N in Name]: N };
}

/** Namespaces of Envoy's dynamic metadata. */
export const NAMESPACE = {
  /** What the service sends along with its answer; whatever an ext_authz filter is called, it leaves that here. */
  decision: "envoy.filters.http.ext_authz",
  /** What Lua notes of a stream: for its guards, and for the access log. */
  notes: "gatehouse",
} as const;

/** Members of what the service sends along. */
export const DECISION = names(
  // of each answer that is a decision; of each that is a denial
  "final",
  "denied",
  // of a plan
  "plan",
  "decision_id",
  "method",
  "request_id",
  // of the plan of a connection
  "state_file",
  "state_epoch",
  "expires_at",
  "handshake_accept",
  "slot",
  "generation",
  // for access logs
  "record_id",
  "record_path",
);

/** Members of what Lua notes. */
export const NOTE = names("decision_id", "state", "status", "outcome", "chunks", "client_chunks");

/** How far Lua has come with an answer: parts of it pass, each of which is counted; all of it has been looked at. */
export const STATE = names("stream", "done");

/** Members of an outcome, which is one of the two. */
export const OUTCOME = names("response", "websocket");
/** Members of what became of an answer. */
export const RESPONSE = names("result", "reason", "count", "paths", "dropped");
/** What became of it. */
export const RESULT = names("masked", "unchanged", "refused", "unfinished", "headers_only", "passed");
/** Why it was refused; what is wrong with a document itself has other names (policy/mask). */
export const UNREAD = names(
  "compressed",
  "partial",
  "not_json",
  "too_large",
  "looks_like_json",
  "error",
  // answers to handshakes
  "not_upgraded",
  "early_data",
  "upgrade",
  "extensions",
  "protocol",
);

/** Members of what became of a connection. */
export const CONNECTION = names("sent", "received", "denied", "paths", "closed");
export const COUNTS = names("delivered", "dropped", "masked");
export const DENIED_MESSAGES = names("direction", "type", "rule", "count");
/** The client's messages, and the server's. */
export const DIRECTION = names("send", "receive");
export const CLOSED = names("code", "reason", "by");
export const CLOSED_BY = names("policy", "protocol", "expiry", "peer", "error");

/** Reasons for which Lua closes connections by itself; those that are the service's are codes of decisions. */
export const CLOSE = names(
  "TOKEN_EXPIRED",
  "SERVICE_UNAVAILABLE",
  "POLICY_CHANGED",
  "ACCESS_DENIED",
  "INTERNAL_ERROR",
  "PLAN_UNUSABLE",
  "UPGRADE_NOT_DELIVERED",
  "TOO_MANY_DENIED",
);

/** Members of the file by which Lua learns what became of open connections, and of one that is to be closed. */
export const STATE_FILE = names("epoch", "at", "closed", "plans", "newest", "slots");
export const CLOSING = names("code", "reason");
/** Characters of each slot's generation in that file. */
export const SLOT_WIDTH = 8;

/** Answers in place of those that must not be delivered: code and text. */
export const REFUSAL = names("RESPONSE_NOT_DELIVERED", "UPGRADE_NOT_DELIVERED");
export const REFUSAL_TEXT = {
  RESPONSE_NOT_DELIVERED: "the answer could not be checked against the policies",
  UPGRADE_NOT_DELIVERED: "the connection was not upgraded",
  /** Where the answer's status stays. */
  status_kept:
    "the application answered %d; the rest of its answer could not be checked against the policies",
} as const;

/** What becomes of a message, and what its sender is told. */
export const MESSAGE = names("PERMITTED", "UNREADABLE", "UNLISTED", "AMBIGUOUS", "CONDITION") satisfies {
  readonly [Code in MessageCode]: Code;
};
export const MESSAGE_TEXT = {
  UNREADABLE: "a message must be a JSON object with one `type`",
  UNLISTED: "no rule permits messages of this type",
  AMBIGUOUS: "a name in the message could be read as another one",
  CONDITION: "the message was denied",
} as const satisfies Record<Exclude<MessageCode, "PERMITTED">, string>;

/** Subprotocols of GraphQL over WebSocket: of the library graphql-ws, and of the older subscriptions-transport-ws. */
export const SUBPROTOCOL = { current: "graphql-transport-ws", older: "graphql-ws" } as const;

/** Which plans Lua can carry out. */
export const PLAN_VERSION = IR_VERSION;

/** Headers of requests that only the gateway may set: `x-gatehouse-*` of clients is removed first. */
export const HEADER = {
  /** Of the service's answer: it moves the request to a route whose filters look into its answer. */
  plan: "x-gatehouse-plan",
  /** The copy of X-Backend-URL that routes look at: the service removes the original before the route is chosen again. */
  backend: "x-gatehouse-backend",
} as const;

/** Context extensions, by which a route of Envoy says to the service what it does. */
export const EXTENSION = {
  /** Its filters carry out plans, of this version. Elsewhere answers would pass as they are. */
  plans: "gatehouse_plans",
  /** Its Envoy reports open connections. Without it only the line of its end, or the time, makes an end of one. */
  reports: "gatehouse_reports",
  /** What it does with bodies. */
  body: "gatehouse_body",
} as const;
export const REPORTS = names("connections");
/**
 * `on_request`: this check comes without the body, and a further one with it where the answer is no decision. `handed_over`:
 * whatever body there is, is in this check; that a check has no bytes means nothing elsewhere, because Envoy says nothing about
 * a body that it does not hold back. It never holds back what follows a request to upgrade.
 */
export const BODIES = names("on_request", "handed_over");

/** What Lua has of all this. */
export const LUA_CONTRACT = {
  NAMESPACE,
  DECISION,
  NOTE,
  STATE,
  OUTCOME,
  RESPONSE,
  RESULT,
  UNREAD,
  CONNECTION,
  COUNTS,
  DENIED_MESSAGES,
  DIRECTION,
  CLOSED,
  CLOSED_BY,
  CLOSE,
  STATE_FILE,
  CLOSING,
  SLOT_WIDTH,
  REFUSAL,
  REFUSAL_TEXT,
  MESSAGE,
  MESSAGE_TEXT,
  GRAPHQL,
  GRAPHQL_TEXT,
  SUBPROTOCOL,
  PLAN_VERSION,
} as const;
