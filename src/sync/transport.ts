import { hostname } from "node:os";
import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import type { Agent, Dispatcher } from "undici";
import { connectionFailure } from "../identity/connection-failure.ts";
import { secureUrl } from "../identity/secure-url.ts";
import { errorEnvelope, GATEWAY_NAME_HEADER, gatewayNameOn, successEnvelope } from "../protocol/index.ts";
import { errorCode } from "../runtime/error-code.ts";
import { fixedApiKey, type ApiKey } from "./api-key.ts";
import { ControlPlaneError, isKeyRefused, type Failure } from "./control-plane-error.ts";

export interface TransportOptions {
  /** Base URL of the control plane, without `/v1`; https, or http on loopback. */
  readonly url: string;
  /** A string is a fixed key. */
  readonly apiKey: string | ApiKey;
}

export interface CallOptions {
  /** Path after `/v1`. */
  readonly path: string;
  /** JSON text; absent for a GET. */
  readonly body?: string;
  /** Time limit for the whole response. */
  readonly timeoutMs: number;
  /** Size limit of a response, in bytes. */
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
}

const GATEWAY_NAME = gatewayNameOn(hostname());

/** Upper limit for Retry-After. */
const MAX_RETRY_AFTER_MS = 60_000;

/**
 * Calls the gateway's routes: key, address, time and size limits, and the envelope. Connections are kept alive. Redirects are
 * not followed, because only the configured address has been checked.
 */
export class Transport {
  readonly #base: URL;
  readonly #apiKey: ApiKey;
  /** Made for the first call: to load it takes a function longer than to compile its policies. */
  #agent: Promise<Agent> | undefined;
  readonly #closing = new AbortController();

  /** @throws TypeError if the address or the key is not usable; the message does not contain the key */
  constructor({ url, apiKey }: TransportOptions) {
    const base = secureUrl("control_plane.url", url);
    if (base.search !== "" || base.hash !== "")
      throw new TypeError("`control_plane.url` must have neither a query nor a fragment");
    this.#base = new URL(`${base.pathname.replace(/(?<!\/)\/+$/, "")}/v1`, base);
    this.#apiKey = typeof apiKey === "string" ? fixedApiKey(apiKey) : apiKey;
  }

  /**
   * @returns the `data` of the response
   * @throws ControlPlaneError, and nothing else
   */
  async call(options: CallOptions): Promise<unknown> {
    const { current: shown } = this.#apiKey;
    try {
      return await this.#insistently(options);
    } catch (error) {
      if (!isKeyRefused(error)) throw error;
      // it may have been replaced without a change event for the file
      await this.#apiKey.refresh();
      if (this.#apiKey.current === shown) throw error;
      return await this.#insistently(options);
    }
  }

  async #insistently(options: CallOptions): Promise<unknown> {
    try {
      return await this.#once(options);
    } catch (error) {
      // the server may close a kept-alive connection at the moment it is used; every call here can be repeated
      if (!isBroken(error) || this.#closing.signal.aborted || options.signal?.aborted === true) throw error;
      return await this.#once(options);
    }
  }

  close(): void {
    this.#closing.abort();
    void this.#agent?.then((agent) => agent.destroy());
  }

  async #once(options: CallOptions): Promise<unknown> {
    const timeout = AbortSignal.timeout(options.timeoutMs);
    const given = options.signal === undefined ? [] : [options.signal];
    const signal = AbortSignal.any([timeout, this.#closing.signal, ...given]);
    try {
      const agent = await (this.#agent ??= createAgent());
      const response = await agent.request({
        origin: this.#base.origin,
        path: this.#base.pathname + options.path,
        method: options.body === undefined ? "GET" : "POST",
        headers: {
          authorization: `Bearer ${this.#apiKey.current}`,
          accept: "application/json",
          [GATEWAY_NAME_HEADER]: GATEWAY_NAME,
          "accept-encoding": "gzip",
          ...(options.body !== undefined && { "content-type": "application/json" }),
        },
        ...(options.body !== undefined && { body: options.body }),
        signal,
      });
      return dataOf(response, await readBounded(response, options.maxBytes));
    } catch (error) {
      if (error instanceof ControlPlaneError) throw error;
      // an error of zlib
      if (errorCode(error)?.startsWith("Z_") === true)
        throw failed("MALFORMED_ANSWER", "the response is not valid gzip", error);
      if (timeout.aborted)
        throw failed("TIMEOUT", `no complete response within ${options.timeoutMs} ms`, error);
      if (signal.aborted) throw failed("CLOSED", "the call was aborted", error);
      throw failed("UNREACHABLE", connectionFailure(error, this.#base) ?? describe(error), error);
    }
  }
}

async function createAgent(): Promise<Agent> {
  const { Agent: Connections } = await import("undici");
  // each call has its own time limit, and a long poll is idle on purpose
  return new Connections({ headersTimeout: 0, bodyTimeout: 0, connectTimeout: 5_000 });
}

/** @param maxBytes - limit that also applies to the decompressed response */
async function readBounded({ body, headers }: Dispatcher.ResponseData, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of decoded(body, headers["content-encoding"])) {
    length += chunk.length;
    if (length > maxBytes) throw failed("MALFORMED_ANSWER", `the response is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
  } catch (cause) {
    throw failed("MALFORMED_ANSWER", "the response is not valid UTF-8", cause);
  }
}

/** RFC 9110, section 8.4. An error while decoding reaches the reader. */
function decoded(
  body: Dispatcher.ResponseData["body"],
  coding: string | string[] | undefined,
): AsyncIterable<Buffer> {
  if (coding === undefined || coding === "identity") return body as AsyncIterable<Buffer>;
  if (coding !== "gzip") {
    body.on("error", () => undefined).destroy();
    throw failed("MALFORMED_ANSWER", "the response has a content coding that was not requested");
  }
  const unzipped = createGunzip();
  pipeline(body, unzipped, () => undefined);
  return unzipped as AsyncIterable<Buffer>;
}

function dataOf({ statusCode: status, headers }: Dispatcher.ResponseData, text: string): unknown {
  const value = parse(text);
  if (status >= 200 && status < 300) {
    const envelope = successEnvelope.safeParse(value);
    if (envelope.success && envelope.data.data !== undefined) return envelope.data.data;
    throw new ControlPlaneError("MALFORMED_ANSWER", "the response is not from the API", { status });
  }
  const envelope = errorEnvelope.safeParse(value);
  const retryAfterMs = retryAfter(headers["retry-after"]);
  if (!envelope.success) {
    const message = `status ${status}, not from the API`;
    throw new ControlPlaneError("MALFORMED_ANSWER", message, { status, retryAfterMs });
  }
  const { code, message } = envelope.data.error;
  throw new ControlPlaneError(code, message, { status, retryAfterMs });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** RFC 9110, section 10.2.3; in seconds, the only form that the API sends. */
function retryAfter(header: string | string[] | undefined): number | undefined {
  if (typeof header !== "string" || !/^\d{1,9}$/.test(header)) return undefined;
  return Math.min(Number(header) * 1000, MAX_RETRY_AFTER_MS);
}

function failed(code: Failure, message: string, cause?: unknown): ControlPlaneError {
  return new ControlPlaneError(code, message, { cause });
}

/** Whether an established connection was lost. */
function isBroken(error: unknown): boolean {
  if (!(error instanceof ControlPlaneError) || error.code !== "UNREACHABLE") return false;
  return ["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"].includes(errorCode(error.cause) ?? "");
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return "failed";
  const code = errorCode(error);
  return code === undefined ? error.message : `${error.message === "" ? "failed" : error.message} (${code})`;
}
