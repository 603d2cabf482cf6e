import type { Pagination, Warning } from "./api.ts";
import { checkNumber } from "./check.ts";
import {
  apiError,
  ConfigurationError,
  NetworkError,
  DeadlineExceededError,
  type ApiError,
  type GatehouseError,
} from "./errors.ts";
import { BodyTooLongError, readText } from "./read-text.ts";
import { readBody, responseOf, unreadableResponse, type ApiBody, type ApiResponse } from "./response.ts";
import { delayMs, isTransient } from "./retry.ts";
import { sleep } from "./sleep.ts";

/** What each call takes besides its arguments. */
export interface CallOptions {
  /** Ends the call; it then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** The longest that the call may take, all attempts and pauses included. Default: 60,000. */
  readonly timeoutMs?: number | undefined;
  /** Default: 2. */
  readonly maxRetries?: number | undefined;
  /** POST: the server carries out requests with one key once. Default: a new one for each call. */
  readonly idempotencyKey?: string | undefined;
  /** The ETag that the resource must still have; else the call throws `PreconditionFailedError`. Not `undefined`. */
  readonly ifMatch?: string;
  /** Is told about the response, an error response included. */
  readonly onResponse?: ((response: ApiResponse) => void) | undefined;
}

/** What a resource asks for. */
export interface ApiRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below `/v1`. */
  readonly path: string;
  readonly query?: object | undefined;
  readonly body?: unknown;
  readonly ifNoneMatch?: string;
  /** The server may wait as long before it answers. */
  readonly serverWaitMs?: number;
  readonly options?: CallOptions | undefined;
}

export interface ApiAnswer<T> {
  readonly data: T;
  readonly pagination: Pagination | undefined;
  readonly warnings: readonly Warning[];
  readonly response: ApiResponse;
}

export interface TransportSettings {
  readonly baseUrl: string;
  /** Who calls. */
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly attemptTimeoutMs: number;
  readonly maxRetries: number;
  readonly fetch: typeof fetch;
}

/** Otherwise the sender would decide how much memory is used. */
const MAX_BODY_BYTES = 100_000_000;

const NOT_MODIFIED: ApiBody = {
  success: true,
  data: undefined,
  pagination: undefined,
  warnings: [],
  requestId: undefined,
};

type Outcome = { readonly response: Response; readonly text: string } | { readonly failure: unknown };

/** Sends requests, and sends them again where that may help. */
export class Transport {
  readonly #settings: TransportSettings;
  #last: ApiResponse | undefined;

  constructor(settings: TransportSettings) {
    this.#settings = settings;
  }

  get lastResponse(): ApiResponse | undefined {
    return this.#last;
  }

  /** The content of the response alone. */
  async data<T>(request: ApiRequest): Promise<T> {
    return (await this.request<T>(request)).data;
  }

  async request<T>(request: ApiRequest): Promise<ApiAnswer<T>> {
    const { options = {} } = request;
    const timeoutMs = checkNumber("timeoutMs", options.timeoutMs ?? this.#settings.timeoutMs);
    const maxRetries = checkNumber("maxRetries", options.maxRetries ?? this.#settings.maxRetries);
    const deadline = Date.now() + timeoutMs;
    const late = () => new DeadlineExceededError(`no response within ${timeoutMs} ms`);
    const init = this.#init(request);
    for (let attempt = 0; ; attempt += 1) {
      const remaining = deadline - Date.now();
      if (remaining <= 0) throw late();
      const limit = this.#settings.attemptTimeoutMs + (request.serverWaitMs ?? 0);
      const outcome = await this.#attempt(request, init, Math.min(remaining, limit));
      options.signal?.throwIfAborted();
      let error: ApiError | GatehouseError;
      let wanted: number | undefined;
      if ("failure" in outcome) {
        if (Date.now() >= deadline) throw late();
        error = new NetworkError(`${request.method} ${request.path}: no response`, {
          cause: outcome.failure,
        });
      } else {
        const answer = this.#read<T>(request, outcome, attempt + 1);
        if (!("error" in answer)) return answer;
        error = answer.error;
        wanted = answer.error.retryAfterMs;
        if (!isTransient(answer.error.status, answer.error.code)) throw error;
      }
      const pause = delayMs(attempt, wanted);
      // what the server asks for does not fit, or nobody wants another attempt
      if (attempt >= maxRetries || Date.now() + pause >= deadline) throw error;
      await sleep(pause, options.signal);
    }
  }

  #init({ method, body, ifNoneMatch, options = {} }: ApiRequest): RequestInit {
    const headers: Record<string, string> = { ...this.#settings.headers, accept: "application/json" };
    if (body !== undefined) headers["content-type"] = "application/json";
    // one key for all attempts, so that only one of them has an effect
    if (method === "POST") headers["idempotency-key"] = options.idempotencyKey ?? crypto.randomUUID();
    if ("ifMatch" in options) {
      // an ETag that was not there: without the header, the call would overwrite what others changed
      if (typeof options.ifMatch !== "string" || options.ifMatch === "")
        throw new ConfigurationError(
          "`ifMatch` must be an ETag; leave it out to change the resource regardless",
        );
      headers["if-match"] = options.ifMatch;
    }
    if (ifNoneMatch !== undefined) headers["if-none-match"] = ifNoneMatch;
    // a redirect would carry the key to another address
    const init: RequestInit = { method, headers, redirect: "manual" };
    return body === undefined ? init : { ...init, body: JSON.stringify(body) };
  }

  async #attempt(request: ApiRequest, init: RequestInit, limitMs: number): Promise<Outcome> {
    const given = request.options?.signal;
    given?.throwIfAborted();
    const limit = AbortSignal.timeout(Math.ceil(limitMs));
    const signal = given === undefined ? limit : AbortSignal.any([given, limit]);
    try {
      const url = `${this.#settings.baseUrl}/v1${request.path}${queryOf(request.query)}`;
      const response = await this.#settings.fetch(url, { ...init, signal });
      return { response, text: await textOf(response) };
    } catch (failure) {
      return { failure };
    }
  }

  #read<T>(
    { ifNoneMatch, options }: ApiRequest,
    { response, text }: { readonly response: Response; readonly text: string },
    attempts: number,
  ): ApiAnswer<T> | { readonly error: ApiError } {
    const isUnchanged = response.status === 304 && ifNoneMatch !== undefined;
    const body = isUnchanged ? NOT_MODIFIED : readBody(text);
    const about = responseOf(response, body, attempts);
    this.#last = about;
    options?.onResponse?.(about);
    if (body?.success === true && (response.ok || isUnchanged)) {
      const { data, pagination } = body;
      return { data: data as T, pagination, warnings: about.warnings, response: about };
    }
    const { requestId, status, retryAfterMs } = about;
    if (body?.success === false)
      return { error: apiError({ ...body.error, status, requestId, retryAfterMs }) };
    return { error: unreadableResponse(about) };
  }
}

/** A response that is too long is not one of the API, and would be as long the next time. */
async function textOf(response: Response): Promise<string> {
  try {
    return await readText(response, MAX_BODY_BYTES);
  } catch (error) {
    if (error instanceof BodyTooLongError) return "";
    throw error;
  }
}

function queryOf(query: object = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== null) parameters.append(name, String(value));
  return parameters.size === 0 ? "" : `?${parameters}`;
}
