import { signal } from "@preact/signals";
import { messages } from "../messages/index.ts";
import type { components } from "./schema.d.ts";
import type { Body, Data, Method, Pagination, PathWith, Query, Session } from "./types.ts";

type ErrorBody = components["schemas"]["Error"]["error"];

/** A field that the API refused. */
export interface FieldProblem {
  readonly path: string;
  readonly message: string;
}

/** Codes beside those of the API: no answer, or one that is not the API's. */
type OwnCode = "UNREACHABLE" | "UNEXPECTED";

/** Anything that kept a request from succeeding. */
export class ApiFailure extends Error {
  readonly status: number;
  readonly code: ErrorBody["code"] | OwnCode;
  readonly fields: readonly FieldProblem[];
  readonly requestId: string | undefined;

  constructor(status: number, code: ErrorBody["code"] | OwnCode, message: string, about: About = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.fields = about.fields ?? [];
    this.requestId = about.requestId;
  }
}

interface About {
  readonly fields?: readonly FieldProblem[];
  readonly requestId?: string;
}

export interface Answer<T> {
  readonly data: T;
  readonly pagination?: Pagination;
  readonly warnings: readonly string[];
  readonly etag: string | null;
  /** Of the kind of request that it was, per minute. */
  readonly limits: { readonly limit: string | null; readonly left: string | null };
}

/** Who is signed in. `undefined`: not known yet; `null`: nobody. The token itself is out of reach of scripts. */
export const session = signal<Session | null | undefined>(undefined);
/** Whether the last session ended without a sign-out, which the sign-in page explains. */
export const sessionLost = signal(false);

interface Options<M extends Method, P extends PathWith<M>> {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Query<P, M>;
  readonly body?: Body<P, M>;
  readonly ifMatch?: string | null;
  readonly abort?: AbortSignal;
}

/** Sends a request to the API. @throws ApiFailure */
export async function call<M extends Method, P extends PathWith<M>>(
  method: M,
  path: P,
  options: Options<M, P> = {},
): Promise<Answer<Data<P, M>>> {
  try {
    return await send(method, path, options);
  } catch (failure) {
    if (!(failure instanceof ApiFailure)) throw failure;
    if (failure.status === 401 && session.value && path !== "/dashboard/login") {
      sessionLost.value = true;
      session.value = null;
    }
    // another tab has signed in again: the same person may go on, anybody else starts afresh
    if (failure.code === "CSRF_TOKEN_INVALID" && session.value) {
      const before = session.value.user.id;
      const { data } = await send("get", "/dashboard/session", {});
      session.value = data;
      if (data.user.id === before) return send(method, path, options);
    }
    throw failure;
  }
}

async function send<M extends Method, P extends PathWith<M>>(
  method: M,
  path: P,
  { params = {}, query, body, ifMatch, abort }: Options<M, P>,
): Promise<Answer<Data<P, M>>> {
  const headers: Record<string, string> = { accept: "application/json" };
  // the types know which methods have a body; here any may
  const content: unknown = body;
  if (content !== undefined) headers["content-type"] = "application/json";
  if (method !== "get" && session.value) headers["x-csrf-token"] = session.value.csrf_token;
  if (ifMatch) headers["if-match"] = ifMatch;
  let response: Response;
  let text: string;
  try {
    response = await fetch(urlOf(path, params, query), {
      method: method.toUpperCase(),
      headers,
      credentials: "same-origin",
      ...(content !== undefined && { body: JSON.stringify(content) }),
      ...(abort && { signal: abort }),
    });
    text = await response.text();
  } catch (error) {
    if (abort?.aborted === true) throw error;
    throw new ApiFailure(0, "UNREACHABLE", String(error));
  }
  const answer = parsed(text);
  if (!response.ok || !isObject(answer)) throw failureOf(response.status, answer);
  const {
    data,
    pagination,
    warnings = [],
  } = answer as {
    data: Data<P, M>;
    pagination?: Pagination;
    warnings?: { message: string }[];
  };
  return {
    data,
    ...(pagination && { pagination }),
    warnings: warnings.map(({ message }) => message),
    etag: response.headers.get("etag"),
    limits: {
      limit: response.headers.get("x-ratelimit-limit"),
      left: response.headers.get("x-ratelimit-remaining"),
    },
  };
}

/** @returns `undefined` for what is no JSON: the page of a proxy, say */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What an answer says that is no success. Proxies answer in their own ways. */
export function failureOf(status: number, answer: unknown): ApiFailure {
  if (!isErrorEnvelope(answer)) return new ApiFailure(status, "UNEXPECTED", messages.failures.unexpected);
  const { error, meta } = answer;
  const { fields = [], parameters = [] } = error.details as {
    fields?: FieldProblem[];
    parameters?: { parameter: string; message: string }[];
  };
  const all = [...fields, ...parameters.map(({ parameter, message }) => ({ path: parameter, message }))];
  return new ApiFailure(status, error.code, error.message, { fields: all, requestId: meta.request_id });
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function isErrorEnvelope(answer: unknown): answer is components["schemas"]["Error"] {
  if (!isObject(answer)) return false;
  const { error, meta } = answer as { readonly error?: unknown; readonly meta?: unknown };
  return isObject(error) && isObject(meta) && "details" in error && isObject(error.details);
}

function urlOf(path: string, params: Readonly<Record<string, string>>, query: object | undefined): string {
  const filled = path.replace(/\{(\w+)\}/g, (_whole, name: string) => encodeURIComponent(params[name] ?? ""));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {}))
    if (value !== undefined && value !== "") search.set(name, String(value));
  const text = search.toString();
  return `/v1${filled}${text === "" ? "" : `?${text}`}`;
}

/** Finds out who is signed in. */
export async function loadSession(): Promise<void> {
  try {
    session.value = (await send("get", "/dashboard/session", {})).data;
  } catch (failure) {
    if (!(failure instanceof ApiFailure) || failure.status !== 401) throw failure;
    session.value = null;
  }
}

/** Whether the person who is signed in may do something. The API decides again at each request. */
export function may(permission: Session["permissions"][number]): boolean {
  return session.value?.permissions.includes(permission) ?? false;
}
