import {
  RESULT,
  type CLOSED,
  type CONNECTION,
  type COUNTS,
  type DENIED_MESSAGES,
  type OUTCOME,
  type RESPONSE,
} from "../envoy-contract.ts";
import { isObject } from "../json/index.ts";

/** The outcome of a response to which response rules applied. */
export interface ResponseOutcome {
  readonly result: ResponseResult;
  readonly reason?: string;
  /** Paths of changed values; key names are the document's own. */
  readonly paths: readonly string[];
  /** Number of changed values. */
  readonly count: number;
  /** Number of documents of a stream that were not delivered. */
  readonly dropped: number;
}

/**
 * `unfinished`: the request ended before the response was complete. `headers_only`: the response of a preflight. `passed`: a
 * response of a type that no rule reads.
 * `not_forwarded`: there was no response, because no application received the request; `delivered` and `failed` are for
 * requests without a plan, and for those whose application failed. Lua never records these three.
 */
export type ResponseResult = keyof typeof RESULT | "not_forwarded" | "delivered" | "failed";

/** Message counts of a WebSocket connection. */
export interface ConnectionOutcome {
  readonly sent: { readonly delivered: number; readonly dropped: number };
  readonly received: { readonly delivered: number; readonly dropped: number; readonly masked: number };
  readonly denied: readonly DeniedMessages[];
  readonly paths: readonly string[];
  /** Digests of the sets that took the place of the first one, in this order; absent: none. */
  readonly sets?: readonly string[];
  /** Absent if the connection was lost without a close. */
  readonly closed?: { readonly code?: number; readonly reason: string; readonly by: string };
}

export interface DeniedMessages {
  readonly direction: string;
  /** As in the message. */
  readonly type: string;
  /** Id of the rule; empty if no rule names the type. */
  readonly rule: string;
  /** Digest of the rule's set; absent: that of the set that decided on the handshake. */
  readonly set?: string;
  readonly count: number;
}

/** Exactly one of the two is present. */
export type NotedOutcome =
  | { readonly event: "response"; readonly response: ResponseOutcome }
  | { readonly event: "connection"; readonly connection: ConnectionOutcome };

/** More than Lua ever records; anything longer was not written by it. */
const MAX_ITEMS = 200;
const MAX_TEXT = 4_096;

/** The text is not what Lua records. */
class Unreadable extends Error {}

/**
 * Parses what Lua recorded about a request (envoy/lua/README.md): JSON in which key names and message types come from
 * clients and applications. Unknown members are ignored.
 *
 * @returns undefined if it is malformed
 */
export function readOutcome(text: string): NotedOutcome | undefined {
  try {
    const { response, websocket } = object<typeof OUTCOME>(JSON.parse(text));
    if ((response === undefined) === (websocket === undefined)) return undefined;
    return websocket === undefined
      ? { event: "response", response: responseOutcome(object<typeof RESPONSE>(response)) }
      : { event: "connection", connection: connectionOutcome(object<typeof CONNECTION>(websocket)) };
  } catch (error) {
    if (error instanceof Unreadable || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Members of an object that Lua records, by name, with values of any type. */
type Members<Names extends Readonly<Record<string, unknown>>> = { readonly [Name in keyof Names]?: unknown };

function responseOutcome({
  result,
  reason,
  paths,
  count,
  dropped,
}: Members<typeof RESPONSE>): ResponseOutcome {
  const known = string(result);
  if (!isResult(known)) throw new Unreadable();
  return {
    result: known,
    ...(reason !== undefined && { reason: string(reason) }),
    paths: list(paths).map(string),
    count: number(count),
    dropped: number(dropped),
  };
}

function isResult(name: string): name is keyof typeof RESULT {
  return Object.hasOwn(RESULT, name);
}

function connectionOutcome({
  sent,
  received,
  denied,
  paths,
  sets,
  closed,
}: Members<typeof CONNECTION>): ConnectionOutcome {
  const toServer = object<typeof COUNTS>(sent);
  const toClient = object<typeof COUNTS>(received);
  return {
    sent: { delivered: number(toServer.delivered), dropped: number(toServer.dropped) },
    received: {
      delivered: number(toClient.delivered),
      dropped: number(toClient.dropped),
      masked: number(toClient.masked),
    },
    denied: list(denied).map(deniedMessages),
    paths: list(paths).map(string),
    ...(sets !== undefined && { sets: list(sets).map(string) }),
    ...(closed !== undefined && { closed: closure(object<typeof CLOSED>(closed)) }),
  };
}

function deniedMessages(value: unknown): DeniedMessages {
  const { direction, type, rule, set, count } = object<typeof DENIED_MESSAGES>(value);
  return {
    direction: string(direction),
    type: string(type ?? ""),
    rule: string(rule ?? ""),
    ...(set !== undefined && { set: string(set) }),
    count: number(count),
  };
}

function closure({ code, reason, by }: Members<typeof CLOSED>): NonNullable<ConnectionOutcome["closed"]> {
  return { ...(code !== undefined && { code: number(code) }), reason: string(reason ?? ""), by: string(by) };
}

function object<Names extends Readonly<Record<string, unknown>>>(value: unknown): Members<Names> {
  if (!isObject(value)) throw new Unreadable();
  return value;
}

function string(value: unknown): string {
  if (typeof value !== "string" || value.length > MAX_TEXT) throw new Unreadable();
  return value;
}

function number(value: unknown): number {
  if (value === undefined) return 0;
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw new Unreadable();
  return value as number;
}

/** Absent and `{}` are empty lists: an empty Lua table may be a list or an object. */
function list(value: unknown): readonly unknown[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) {
    if (Object.keys(object<Record<string, unknown>>(value)).length > 0) throw new Unreadable();
    return [];
  }
  if (value.length > MAX_ITEMS) throw new Unreadable();
  return value as readonly unknown[];
}
