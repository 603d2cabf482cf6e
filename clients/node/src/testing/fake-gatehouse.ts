import type { Event } from "../api.ts";
import { Gatehouse, type GatehouseOptions } from "../gatehouse.ts";
import type { EventSubject } from "./events.ts";
import { DATA } from "./fake-data.ts";
import type { FakeOperation, JsonSchema } from "./fake-data-types.ts";
import { handlersOf, type FakeRequest, type FakeResult } from "./handlers.ts";
import { selected } from "./select.ts";
import { FakeState } from "./state.ts";
import { newId, Refused, type Row } from "./store.ts";
import { defaultsOf, problemsOf, textOf, type Json, type JsonObject } from "./validate.ts";

export interface FakeGatehouseOptions {
  /** Unix ms. */
  readonly clock?: () => number;
}

interface Route {
  readonly id: string;
  readonly operation: FakeOperation;
  readonly pattern: RegExp;
}

const ROUTES: readonly Route[] = Object.entries(DATA.operations).map(([id, operation]) => ({
  id,
  operation,
  pattern: new RegExp(`^/v1${operation.path.replace(/\{\w+\}/g, "([^/]+)")}$`),
}));

/**
 * A control plane in memory, for tests of what uses this library: customers, users, policies and their assignment, sessions,
 * webhooks (which are not delivered), API keys and the feed of events, with paging, ETags, idempotency keys and errors as the real
 * one has them. It has no scopes and no rate limits.
 *
 * @example
 * const gatehouse = new FakeGatehouse().client();
 */
export class FakeGatehouse {
  readonly #clock: () => number;
  readonly #state: FakeState;
  readonly #handlers: ReturnType<typeof handlersOf>;
  readonly #answered = new Map<
    string,
    { readonly asked: string; readonly status: number; readonly text: string }
  >();

  constructor({ clock = Date.now }: FakeGatehouseOptions = {}) {
    this.#clock = clock;
    this.#state = new FakeState(clock);
    this.#handlers = handlersOf(this.#state);
  }

  /** A client of it. All its clients see the same. */
  client(options: Partial<Omit<GatehouseOptions, "fetch">> = {}): Gatehouse {
    return new Gatehouse({ apiKey: "gh_test_fake", environment: "sandbox", ...options, fetch: this.fetch });
  }

  /** Starts a session of a user, as a sign-in would. @returns its id */
  addSession(userId: string, seconds = 43_200): string {
    const { users, sessions } = this.#state;
    const { data } = users.get(userId);
    const id = newId("ses");
    const expires_at = new Date(this.#clock() + seconds * 1000).toISOString();
    sessions.insert({
      ...{
        id,
        customer_id: data["customer_id"] ?? null,
        user_id: userId,
        client_id: "key_fake",
        status: "active",
      },
      ...{ scope: "openid", auth_time: sessions.now(), amr: ["pwd"], acr: null, ip_address: "127.0.0.1" },
      ...{ user_agent: "fake", last_used_at: sessions.now(), expires_at, ended_at: null, end_reason: null },
    });
    return id;
  }

  /** Adds an event to the feed, beside those of changes: a sign-in, a violation. @returns its id */
  addEvent(type: Event["type"], data: Record<string, unknown> = {}, subject: EventSubject = {}): string {
    return this.#state.feed.add(type, data as JsonObject, subject);
  }

  /** Forgets all events: cursors from before are answered with 410 `CURSOR_EXPIRED`. */
  expireEvents(): void {
    this.#state.feed.expire();
  }

  /** In place of the global one. */
  readonly fetch: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    const url = new URL(request.url);
    const text = await request.text();
    try {
      return this.#answer(request, url, text);
    } catch (error) {
      if (error instanceof Refused) return refusal(error);
      throw error;
    }
  };

  #answer(request: Request, url: URL, text: string): Response {
    const route = ROUTES.find(
      ({ operation, pattern }) => operation.method === request.method && pattern.test(url.pathname),
    );
    const handler = route === undefined ? undefined : this.#handlers[route.id];
    if (route === undefined || handler === undefined)
      throw new Refused("NOT_FOUND", { reason: `the fake does not have ${request.method} ${url.pathname}` });
    const ids = route.pattern.exec(url.pathname)?.slice(1).map(decodeURIComponent) ?? [];
    const query = readQuery(url.searchParams, route.operation.query);
    const key = request.method === "POST" ? request.headers.get("idempotency-key") : null;
    const asked = `${request.method} ${url.pathname} ${text}`;
    const before = key === null ? undefined : this.#answered.get(key);
    if (before !== undefined) {
      if (before.asked !== asked) throw new Refused("IDEMPOTENCY_KEY_REUSED");
      return new Response(before.text, { status: before.status });
    }
    const fake: FakeRequest = {
      ids,
      query,
      body: readBody(text, route.operation.body),
      matches: matcher(request.headers),
    };
    const result = handler(fake);
    const { status, body, etag } = this.#envelope(result, query);
    if (request.method === "GET" && etag !== undefined && request.headers.get("if-none-match") === etag)
      return new Response(null, { status: 304, headers: { etag } });
    const answer = JSON.stringify(body);
    if (key !== null) this.#answered.set(key, { asked, status, text: answer });
    return new Response(answer, { status, headers: etag === undefined ? {} : { etag } });
  }

  #envelope(result: FakeResult, query: Readonly<Record<string, string>>) {
    const meta = { timestamp: new Date(this.#clock()).toISOString(), request_id: newId("req") };
    if ("list" in result)
      return { status: 200, body: { success: true, ...selected(result.list, query), meta }, etag: undefined };
    const { status = 200 } = result;
    if ("data" in result)
      return { status, body: { success: true, data: result.data, meta }, etag: undefined };
    const data = { ...result.row.data, ...result.with };
    return { status, body: { success: true, data, meta }, etag: etagOf(result.row) };
  }
}

function etagOf({ revision, data }: Row): string {
  return `"${textOf(data["id"]).slice(-6)}-${revision}"`;
}

function matcher(headers: Headers): FakeRequest["matches"] {
  const wanted = headers.get("if-match");
  return (row) => {
    if (wanted !== null && wanted !== "*" && wanted !== etagOf(row)) throw new Refused("PRECONDITION_FAILED");
    return row;
  };
}

function readBody(text: string, schema: JsonSchema | undefined): JsonObject {
  if (schema === undefined) return {};
  const body = (text === "" ? {} : JSON.parse(text)) as JsonObject;
  const problems = problemsOf(body, schema);
  if (problems.length > 0) throw new Refused("VALIDATION_FAILED", { fields: problems as unknown as Json[] });
  return { ...defaultsOf(schema, body), ...body };
}

function readQuery(
  parameters: URLSearchParams,
  schemas: Readonly<Record<string, JsonSchema>>,
): Readonly<Record<string, string>> {
  for (const [name, text] of parameters) {
    const schema = schemas[name];
    const value = schema?.type === "integer" && /^\d+$/.test(text) ? Number(text) : text;
    if (schema === undefined || problemsOf(value, schema).length > 0)
      throw new Refused("INVALID_PARAMETER", { parameter: name });
  }
  const defaults = Object.entries(schemas).flatMap(([name, schema]) =>
    "default" in schema ? [[name, String(schema.default)]] : [],
  );
  return { ...(Object.fromEntries(defaults) as Record<string, string>), ...Object.fromEntries(parameters) };
}

function refusal({ code, message, details }: Refused): Response {
  const meta = { timestamp: new Date().toISOString(), request_id: newId("req") };
  const body = { success: false, error: { code, message, details }, meta };
  return Response.json(body, { status: DATA.errors[code]?.status ?? 500 });
}
