import { GRAPHQL, GRAPHQL_TEXT } from "./graphql/refusals.ts";
import { IR_VERSION } from "./policy/ir.ts";
import type { MessageCode } from "./policy/message/evaluate-message.ts";

/**
 * The names that the service, Envoy's configuration and the Lua in Envoy share. TypeScript imports these tables; Lua
 * gets them as the module `gatehouse.contract` (gateway/lua-contract.ts). Neither side repeats a name as a literal;
 * test/gateway/envoy/contract.test.ts checks this.
 */

/** An object whose keys equal their values. */
function names<const Name extends string>(...list: readonly Name[]): { readonly [N in Name]: N } {
  return Object.fromEntries(list.map((name) => [name, name])) as { readonly [N in Name]: N };
}

/** Namespaces of Envoy's dynamic metadata. */
export const NAMESPACE = {
  /** Sent by the service with its answer. Envoy stores it under this name whatever the ext_authz filter is called. */
  decision: "envoy.filters.http.ext_authz",
  /** Written by Lua per stream, for its guards and for the access log. */
  notes: "gatehouse",
} as const;

/** Members of the metadata that the service sends with its answer. */
export const DECISION = names(
  // `final` on every decision; `denied` on every denial
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
  // the digest of the policy set that decided on the handshake
  "set",
  // the cluster whose worker identifies the client of a connection by its first message; absent: nobody needs to
  "identify",
  // for access logs
  "record_id",
  "record_path",
);

/** Members of a route's metadata, which Lua reads. */
export const ROUTE = names("upstream", "held_bytes");

/** Members of the metadata that Lua writes. */
export const NOTE = names(
  "decision_id",
  "state",
  "status",
  "outcome",
  "chunks",
  "client_chunks",
  "asked_at",
  "identified",
  "upload_dropped",
  "upload_too_large",
);

/**
 * Lua's progress with an answer: events are being delivered one by one, and counted; or the whole answer has been
 * checked; or Envoy is to replace it at its headers.
 */
export const STATE = names("stream", "done", "refused");

/** Members of an outcome. Exactly one is present. */
export const OUTCOME = names("response", "websocket");
/** Members of an answer's outcome. */
export const RESPONSE = names("result", "reason", "count", "paths", "dropped");
/** Values of an answer's state. */
export const RESULT = names("masked", "unchanged", "refused", "unfinished", "headers_only", "passed");
/** Why an answer was refused. Problems in the document itself have codes of their own (policy/mask). */
export const UNREAD = names(
  "compressed",
  "partial",
  "not_json",
  "too_large",
  "looks_like_json",
  "not_permitted",
  "error",
  // answers to handshakes
  "not_upgraded",
  "early_data",
  "upgrade",
  "extensions",
  "protocol",
  "accept",
);

/** Members of a connection's outcome. */
export const CONNECTION = names("sent", "received", "denied", "paths", "sets", "closed");
export const COUNTS = names("delivered", "dropped", "masked");
export const DENIED_MESSAGES = names("direction", "type", "rule", "set", "count");
/** The client's messages, and the server's. */
export const DIRECTION = names("send", "receive");

/** In lists that are cut: stands for all that are not listed. */
export const MORE = "...";
export const CLOSED = names("code", "reason", "by");
export const CLOSED_BY = names("policy", "protocol", "expiry", "peer", "error");

/** Reasons for which Lua itself closes a connection. Where the service closes it, the reason is a decision's code. */
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

/** Members of the file that tells Lua the state of open connections, and of an entry for a connection to close. */
export const STATE_FILE = names("epoch", "at", "closed", "plans", "newest", "slots");
export const CLOSING = names("code", "reason", "set");
/** Length of each slot's generation in that file, in characters. */
export const SLOT_WIDTH = 8;

/** Code and text of the answers that replace those that must not be delivered. */
export const REFUSAL = names("RESPONSE_NOT_DELIVERED", "UPGRADE_NOT_DELIVERED");
export const REFUSAL_TEXT = {
  RESPONSE_NOT_DELIVERED: "the answer could not be checked against the policies",
  UPGRADE_NOT_DELIVERED: "the connection was not upgraded",
  /** Used where the answer's status is kept. */
  status_kept:
    "the application answered %d; the rest of its answer could not be checked against the policies",
} as const;

/** Outcomes of a message, and the text that its sender gets. */
export const MESSAGE = names("PERMITTED", "UNREADABLE", "UNLISTED", "AMBIGUOUS", "CONDITION") satisfies {
  readonly [Code in MessageCode]: Code;
};
export const MESSAGE_TEXT = {
  UNREADABLE: "a message must be a JSON object with one `type`",
  UNLISTED: "no rule exists for messages of this type",
  AMBIGUOUS: "a name in the message could be read as another one",
  CONDITION: "the message was denied",
} as const satisfies Record<Exclude<MessageCode, "PERMITTED">, string>;

/** Subprotocols of GraphQL over WebSocket: of the library graphql-ws, and of the older subscriptions-transport-ws. */
export const SUBPROTOCOL = { current: "graphql-transport-ws", older: "graphql-ws" } as const;

/** The call that identifies the client of a connection: to a worker, over gRPC, with JSON and texts as messages. */
export const IDENTIFY = { path: "/gatehouse.gateway.Connections/Identify" } as const;
/** The cluster that has only this worker. */
export function ownClusterOf(worker: number): string {
  return `worker_${String(worker)}`;
}
/** Members of its answer. `plan` and `expires_at` replace those of the handshake. */
export const IDENTIFIED = names("result", "plan", "expires_at", "code", "reason");
/** `unchanged`: the message has no token, and what was decided at the handshake remains. */
export const IDENTIFICATION = names("identified", "unchanged", "refused");
/** The longest message that may begin a connection, in bytes, and how long its client may wait with it, in seconds. */
export const INIT_BYTES = 65_536;
export const INIT_SECONDS = 10;

/** The version of the plans that Lua can carry out. */
export const PLAN_VERSION = IR_VERSION;

/** Headers that only the gateway may set. `x-gatehouse-*` from clients is removed first. */
export const HEADER = {
  /** Set by the service: moves the request to a route whose filters inspect the answer. */
  plan: "x-gatehouse-plan",
  /** Set by the service: moves the request to the Envoy routes with the limits of an entry of `gateway.routes`. */
  route: "x-gatehouse-route",
  /**
   * The copy of X-Backend-URL that routes match on. The service removes the original before Envoy selects the route
   * again.
   */
  backend: "x-gatehouse-backend",
  /** The copy of Transfer-Encoding, which Envoy removes before it asks the service. */
  transferEncoding: "x-gatehouse-transfer-encoding",
  /** The copy of X-Forwarded-Proto, which Envoy replaces by the listener's scheme. */
  forwardedProto: "x-gatehouse-forwarded-proto",
  /** Set on Envoy's own responses, for Lua, which removes it: the request's origin. */
  origin: "x-gatehouse-origin",
} as const;

/** Set by Lua on a response that Envoy is to replace, which also ends it at the application. */
export const REFUSE = { header: "x-gatehouse-refuse", value: "refuse-answer" } as const;

/** Headers of Envoy's calls to the service; no client can set them. */
export const CALL_HEADER = {
  /** Milliseconds from the start of the request to the call. Only our own Envoy sends it. */
  askedAfter: "x-gatehouse-asked-after",
} as const;

/** Tags of access-log entries about requests without a decision. */
export const LOG_TAG = names(
  // bytes sent to a worker for the check; absent if Envoy did not let it begin
  "check_bytes",
  // the same of the check with the body, and how long that took; absent if it was not needed
  "body_check_bytes",
  "body_check_us",
);

/** Context extensions: an Envoy route uses them to tell the service what it supports. */
export const EXTENSION = {
  /** The route's filters carry out plans of this version. Without it, answers would pass unfiltered. */
  plans: "gatehouse_plans",
  /**
   * Envoy reports open connections periodically. Without it, a connection counts as open until its final log line or
   * until it expires.
   */
  reports: "gatehouse_reports",
  /** How the route handles request bodies. */
  body: "gatehouse_body",
  /**
   * The connection came from a trusted proxy by the PROXY protocol, and the source address is what that says. Envoy has
   * closed the connections of other peers.
   */
  proxyProtocol: "gatehouse_proxy_protocol",
  /** `x-gatehouse-forwarded-proto` has what the peer sent, and no client can have sent it. */
  forwardedProto: "gatehouse_forwarded_proto",
} as const;
export const REPORTS = names("connections");
/** Whether the headers that describe the request are the proxy's (`http`) or the client's (`tcp`). */
export const PROXY_PROTOCOL = names("http", "tcp");
export const FORWARDED_PROTO = names("copied");
/**
 * `on_request`: this check has no body; if the answer is not a decision, a second check follows with the body.
 * `handed_over`: this check includes the whole body. In any other check, an empty body means nothing, because Envoy
 * does not report bodies that it does not buffer. Envoy never buffers what follows an upgrade request.
 */
export const BODIES = names("on_request", "handed_over");

/** The part of these tables that Lua gets. */
export const LUA_CONTRACT = {
  NAMESPACE,
  DECISION,
  ROUTE,
  HEADER,
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
  MORE,
  CLOSED,
  CLOSED_BY,
  CLOSE,
  STATE_FILE,
  CLOSING,
  SLOT_WIDTH,
  REFUSE,
  REFUSAL,
  REFUSAL_TEXT,
  MESSAGE,
  MESSAGE_TEXT,
  GRAPHQL,
  GRAPHQL_TEXT,
  SUBPROTOCOL,
  IDENTIFY,
  IDENTIFIED,
  IDENTIFICATION,
  INIT_BYTES,
  INIT_SECONDS,
  PLAN_VERSION,
} as const;
