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
export type ResponseResult = (typeof RESULTS)[number] | "not_forwarded" | "delivered" | "failed";

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

const RESULTS = ["masked", "unchanged", "refused", "unfinished", "headers_only", "passed"] as const;

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
    const { response, websocket } = object(JSON.parse(text));
    if ((response === undefined) === (websocket === undefined)) return undefined;
    return websocket === undefined
      ? { event: "response", response: responseOutcome(object(response)) }
      : { event: "connection", connection: connectionOutcome(object(websocket)) };
  } catch (error) {
    if (error instanceof Unreadable || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

type Members = Readonly<Record<string, unknown>>;

function responseOutcome({ result, reason, paths, count, dropped }: Members): ResponseOutcome {
  const known = RESULTS.find((name) => name === result);
  if (known === undefined) throw new Unreadable();
  return {
    result: known,
    ...(reason !== undefined && { reason: string(reason) }),
    paths: list(paths).map(string),
    count: number(count),
    dropped: number(dropped),
  };
}

function connectionOutcome({ sent, received, denied, paths, closed }: Members): ConnectionOutcome {
  const toServer = object(sent);
  const toClient = object(received);
  return {
    sent: { delivered: number(toServer["delivered"]), dropped: number(toServer["dropped"]) },
    received: {
      delivered: number(toClient["delivered"]),
      dropped: number(toClient["dropped"]),
      masked: number(toClient["masked"]),
    },
    denied: list(denied).map(deniedMessages),
    paths: list(paths).map(string),
    ...(closed !== undefined && { closed: closure(object(closed)) }),
  };
}

function deniedMessages(value: unknown): DeniedMessages {
  const { direction, type, rule, count } = object(value);
  return {
    direction: string(direction),
    type: string(type ?? ""),
    rule: string(rule ?? ""),
    count: number(count),
  };
}

function closure({ code, reason, by }: Members): NonNullable<ConnectionOutcome["closed"]> {
  return { ...(code !== undefined && { code: number(code) }), reason: string(reason ?? ""), by: string(by) };
}

function object(value: unknown): Members {
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
    if (Object.keys(object(value)).length > 0) throw new Unreadable();
    return [];
  }
  if (value.length > MAX_ITEMS) throw new Unreadable();
  return value as readonly unknown[];
}
