import { hostname } from "node:os";
import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import { Agent, type Dispatcher } from "undici";
import { connectionFailure } from "../identity/connection-failure.ts";
import { secureUrl } from "../identity/secure-url.ts";
import { errorEnvelope, GATEWAY_NAME_HEADER, gatewayNameOn, successEnvelope } from "../protocol/index.ts";
import { errorCode } from "../runtime/error-code.ts";
import { fixedApiKey, type ApiKey } from "./api-key.ts";
import { ControlPlaneError, isKeyRefused, type Failure } from "./control-plane-error.ts";

export interface TransportOptions {
  /** Where the control plane is, without `/v1`; https, or http on loopback. */
  readonly url: string;
  /** A text stays as it is. */
  readonly apiKey: string | ApiKey;
}

export interface CallOptions {
  /** Behind `/v1`. */
  readonly path: string;
  /** Text of JSON; absent: a GET. */
  readonly body?: string;
  /** For the whole answer. */
  readonly timeoutMs: number;
  /** Bytes of an answer. */
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
}

const GATEWAY_NAME = gatewayNameOn(hostname());

/** Longest time that an answer can ask to be left in peace for. */
const MAX_RETRY_AFTER_MS = 60_000;

/**
 * Calls of the gateway's routes: the key, the address, time and size limits, and the envelope. Connections are kept
 * alive. No redirect is followed: the address was checked, the one it points to was not.
 */
export class Transport {
  readonly #base: URL;
  readonly #apiKey: ApiKey;
  readonly #agent: Agent;
  readonly #closing = new AbortController();

  /** @throws TypeError for an address or a key that cannot be used; the message does not repeat the key */
  constructor({ url, apiKey }: TransportOptions) {
    const base = secureUrl("control_plane.url", url);
    if (base.search !== "" || base.hash !== "")
      throw new TypeError("`control_plane.url` must have neither a query nor a fragment");
    this.#base = new URL(`${base.pathname.replace(/(?<!\/)\/+$/, "")}/v1`, base);
    this.#apiKey = typeof apiKey === "string" ? fixedApiKey(apiKey) : apiKey;
    // each call has a time limit of its own, and a long poll is silent on purpose
    this.#agent = new Agent({ headersTimeout: 0, bodyTimeout: 0, connectTimeout: 5_000 });
  }

  /**
   * @returns the `data` of the answer
   * @throws ControlPlaneError, and nothing else
   */
  async call(options: CallOptions): Promise<unknown> {
    const { current: shown } = this.#apiKey;
    try {
      return await this.#insistently(options);
    } catch (error) {
      if (!isKeyRefused(error)) throw error;
      // it may have been replaced, and nobody was told of the file's change
      await this.#apiKey.refresh();
      if (this.#apiKey.current === shown) throw error;
      return await this.#insistently(options);
    }
  }

  async #insistently(options: CallOptions): Promise<unknown> {
    try {
      return await this.#once(options);
    } catch (error) {
      // a kept connection may be closed by the other side at the moment it is used; every call here can be repeated
      if (!isBroken(error) || this.#closing.signal.aborted || options.signal?.aborted === true) throw error;
      return await this.#once(options);
    }
  }

  close(): void {
    this.#closing.abort();
    void this.#agent.destroy();
  }

  async #once(options: CallOptions): Promise<unknown> {
    const timeout = AbortSignal.timeout(options.timeoutMs);
    const given = options.signal === undefined ? [] : [options.signal];
    const signal = AbortSignal.any([timeout, this.#closing.signal, ...given]);
    try {
      const response = await this.#agent.request({
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
      // zlib's
      if (errorCode(error)?.startsWith("Z_") === true)
        throw failed("MALFORMED_ANSWER", "the answer is not the gzip that it says it is", error);
      if (timeout.aborted)
        throw failed("TIMEOUT", `no complete answer within ${options.timeoutMs} ms`, error);
      if (signal.aborted) throw failed("CLOSED", "the call was given up", error);
      throw failed("UNREACHABLE", connectionFailure(error, this.#base) ?? describe(error), error);
    }
  }
}

/** @param maxBytes - also of what a compressed answer holds */
async function readBounded({ body, headers }: Dispatcher.ResponseData, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of decoded(body, headers["content-encoding"])) {
    length += chunk.length;
    if (length > maxBytes) throw failed("MALFORMED_ANSWER", `the answer is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
  } catch (cause) {
    throw failed("MALFORMED_ANSWER", "the answer is not UTF-8", cause);
  }
}

/** RFC 9110, section 8.4. What fails on the way fails for whoever reads. */
function decoded(
  body: Dispatcher.ResponseData["body"],
  coding: string | string[] | undefined,
): AsyncIterable<Buffer> {
  if (coding === undefined || coding === "identity") return body as AsyncIterable<Buffer>;
  if (coding !== "gzip") {
    body.on("error", () => undefined).destroy();
    throw failed("MALFORMED_ANSWER", "the answer has a content coding that was not asked for");
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
    throw new ControlPlaneError("MALFORMED_ANSWER", "the answer is not the API's", { status });
  }
  const envelope = errorEnvelope.safeParse(value);
  const retryAfterMs = retryAfter(headers["retry-after"]);
  if (!envelope.success) {
    const message = `answered with status ${status}, and not by the API`;
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

/** RFC 9110, section 10.2.3; as seconds, which is how the API says it. */
function retryAfter(header: string | string[] | undefined): number | undefined {
  if (typeof header !== "string" || !/^\d{1,9}$/.test(header)) return undefined;
  return Math.min(Number(header) * 1000, MAX_RETRY_AFTER_MS);
}

function failed(code: Failure, message: string, cause?: unknown): ControlPlaneError {
  return new ControlPlaneError(code, message, { cause });
}

/** Whether a connection that was there is not any more. */
function isBroken(error: unknown): boolean {
  if (!(error instanceof ControlPlaneError) || error.code !== "UNREACHABLE") return false;
  return ["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"].includes(errorCode(error.cause) ?? "");
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return "failed";
  const code = errorCode(error);
  return code === undefined ? error.message : `${error.message === "" ? "failed" : error.message} (${code})`;
}
