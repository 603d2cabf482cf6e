import { connectionFailure } from "./connection-failure.ts";

export interface HttpJsonOptions {
  readonly timeoutMs: number;
  /** Gives up when this is aborted. */
  readonly signal: AbortSignal;
  readonly fetch: typeof fetch;
}

/** Larger than any key set; what comes after it is not read. */
const MAX_BYTES = 1024 * 1024;

/**
 * Gets a JSON document. No redirect is followed: the address was checked, the one it points to was not.
 *
 * @throws Error whose message says what went wrong, without the content.
 */
export async function getJson(url: URL, options: HttpJsonOptions): Promise<unknown> {
  const controller = new AbortController();
  const { signal } = controller;
  const stop = () => {
    controller.abort(new Error("the key source was closed"));
  };
  options.signal.addEventListener("abort", stop, { once: true });
  const timer = setTimeout(() => {
    controller.abort(new Error(`no complete answer within ${options.timeoutMs} ms`));
  }, options.timeoutMs);
  try {
    if (options.signal.aborted) stop();
    const response = await options.fetch(url, {
      redirect: "manual",
      headers: { accept: "application/json" },
      signal,
    });
    if (response.status !== 200) throw new Error(`answered with status ${response.status}`);
    return parse(await readBounded(response));
  } catch (error) {
    const message = connectionFailure(error, url) ?? `${url.origin}${url.pathname}: ${describe(error)}`;
    throw new Error(message, { cause: error });
  } finally {
    clearTimeout(timer);
    options.signal.removeEventListener("abort", stop);
    controller.abort(); // ends the transfer of an answer that was not read to its end
  }
}

async function readBounded(response: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const body: AsyncIterable<Uint8Array> | Iterable<never> = response.body ?? [];
  for await (const chunk of body) {
    length += chunk.byteLength;
    if (length > MAX_BYTES) throw new Error(`the answer is larger than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new Error("the answer is not JSON");
  }
}

/** What fetch throws says little; the reason is in its cause. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return "failed";
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  return "code" in cause && typeof cause.code === "string" ? cause.code : cause.message;
}
