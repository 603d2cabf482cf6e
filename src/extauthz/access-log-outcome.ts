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

/** What became of an answer that response rules applied to. */
export interface ResponseOutcome {
  readonly result: ResponseResult;
  readonly reason?: string;
  /** Where values were changed; key names are the document's own. */
  readonly paths: readonly string[];
  /** Values changed. */
  readonly count: number;
  /** Documents of a stream that were not delivered. */
  readonly dropped: number;
}

/**
 * `unfinished`: the request ended before the answer had gone through. `headers_only`: a preflight's answer. `passed`: one of
 * a type that no rule reads.
 * `not_forwarded`: there was none, for no application has seen the request; `delivered` and `failed` are of requests without
 * a plan, and of those whose application failed: Lua never notes these three.
 */
export type ResponseResult = keyof typeof RESULT | "not_forwarded" | "delivered" | "failed";

/** What passed on a WebSocket connection, in numbers of messages. */
export interface ConnectionOutcome {
  readonly sent: { readonly delivered: number; readonly dropped: number };
  readonly received: { readonly delivered: number; readonly dropped: number; readonly masked: number };
  readonly denied: readonly DeniedMessages[];
  readonly paths: readonly string[];
  /** Absent where nobody said so before the connection was gone. */
  readonly closed?: { readonly code?: number; readonly reason: string; readonly by: string };
}

export interface DeniedMessages {
  readonly direction: string;
  /** As the message had it. */
  readonly type: string;
  /** Id of the rule; empty where none names the type. */
  readonly rule: string;
  readonly count: number;
}

/** One of the two. */
export type NotedOutcome =
  | { readonly event: "response"; readonly response: ResponseOutcome }
  | { readonly event: "connection"; readonly connection: ConnectionOutcome };

/** More than Lua ever notes; whatever has more was not written by it. */
const MAX_ITEMS = 200;
const MAX_TEXT = 4_096;

/** Something is not what Lua notes. */
class Unreadable extends Error {}

/**
 * Reads what Lua noted about a request (envoy/lua/README.md): JSON, in which key names and types of messages come from
 * others. Members that are not known here are passed over.
 *
 * @returns undefined where it is not that
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

/** Members of an object that Lua notes: of these names, and whatever they hold. */
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
    ...(closed !== undefined && { closed: closure(object<typeof CLOSED>(closed)) }),
  };
}

function deniedMessages(value: unknown): DeniedMessages {
  const { direction, type, rule, count } = object<typeof DENIED_MESSAGES>(value);
  return {
    direction: string(direction),
    type: string(type ?? ""),
    rule: string(rule ?? ""),
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

/** Absent is empty, and so is `{}`: an empty table in Lua does not say which of the two it is. */
function list(value: unknown): readonly unknown[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) {
    if (Object.keys(object<Record<string, unknown>>(value)).length > 0) throw new Unreadable();
    return [];
  }
  if (value.length > MAX_ITEMS) throw new Unreadable();
  return value as readonly unknown[];
}
