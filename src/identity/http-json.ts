import { errorCode } from "../runtime/error-code.ts";
import { connectionFailure } from "./connection-failure.ts";

export interface HttpJsonOptions {
  readonly timeoutMs: number;
  /** Aborts the request. */
  readonly signal: AbortSignal;
  readonly fetch: typeof fetch;
}

/** Larger than a key set of the most keys with their certificates; a longer response is not read. */
const MAX_BYTES = 4 * 1024 * 1024;

/** The response has another status than 200. */
export class StatusError extends Error {
  readonly status: number;

  constructor(status: number, options?: ErrorOptions & { readonly message?: string }) {
    super(options?.message ?? `unexpected status ${status}`, options);
    this.status = status;
  }
}

/** Fetches a JSON document; see {@link getText}. */
export async function getJson(url: URL, options: HttpJsonOptions): Promise<unknown> {
  return getDocument(url, "application/json", parse, options);
}

/**
 * Fetches a text. Redirects are not followed, because only the given address has been checked.
 *
 * @throws Error whose message says what went wrong, without the content; {@link StatusError} for another status
 */
export async function getText(url: URL, options: HttpJsonOptions): Promise<string> {
  return getDocument(url, "*/*", (bytes) => new TextDecoder("utf-8", { fatal: true }).decode(bytes), options);
}

async function getDocument<T>(
  url: URL,
  accept: string,
  read: (bytes: Uint8Array) => T,
  options: HttpJsonOptions,
): Promise<T> {
  const timeout = AbortSignal.timeout(options.timeoutMs);
  const done = new AbortController();
  const signal = AbortSignal.any([options.signal, timeout, done.signal]);
  try {
    const response = await options.fetch(url, {
      redirect: "manual",
      headers: { accept },
      signal,
    });
    if (response.status !== 200) throw new StatusError(response.status);
    return read(await readBounded(response));
  } catch (error) {
    const problem = timeout.aborted
      ? `no complete response within ${options.timeoutMs} ms`
      : options.signal.aborted
        ? "the key source was closed"
        : describe(error);
    const message = connectionFailure(error, url) ?? `${url.origin}${url.pathname}: ${problem}`;
    throw error instanceof StatusError
      ? new StatusError(error.status, { cause: error, message })
      : new Error(message, { cause: error });
  } finally {
    done.abort(); // ends the transfer of a response that was not read to its end
  }
}

async function readBounded(response: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const body: AsyncIterable<Uint8Array> | Iterable<never> = response.body ?? [];
  for await (const chunk of body) {
    length += chunk.byteLength;
    if (length > MAX_BYTES) throw new Error(`the response is larger than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new Error("the response is not JSON");
  }
}

/** The error that fetch throws is generic; the reason is in its cause. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return "failed";
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  return errorCode(cause) ?? cause.message;
}
