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

/**
 * Fetches a JSON document. Redirects are not followed, because only the given address has been checked.
 *
 * @throws Error whose message says what went wrong, without the content.
 */
export async function getJson(url: URL, options: HttpJsonOptions): Promise<unknown> {
  const timeout = AbortSignal.timeout(options.timeoutMs);
  const done = new AbortController();
  const signal = AbortSignal.any([options.signal, timeout, done.signal]);
  try {
    const response = await options.fetch(url, {
      redirect: "manual",
      headers: { accept: "application/json" },
      signal,
    });
    if (response.status !== 200) throw new Error(`unexpected status ${response.status}`);
    return parse(await readBounded(response));
  } catch (error) {
    const problem = timeout.aborted
      ? `no complete response within ${options.timeoutMs} ms`
      : options.signal.aborted
        ? "the key source was closed"
        : describe(error);
    const message = connectionFailure(error, url) ?? `${url.origin}${url.pathname}: ${problem}`;
    throw new Error(message, { cause: error });
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
