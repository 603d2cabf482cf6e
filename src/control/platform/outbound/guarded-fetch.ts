import { isIP } from "node:net";
import type { LookupFunction } from "node:net";
import * as undici from "undici";
import { proxiedConnect } from "./proxied-connect.ts";
import { checkUrl, publicAddresses } from "./target.ts";
import type { TargetOptions } from "./target.ts";

export { checkTarget } from "./target.ts";

export interface GuardedFetchOptions extends TargetOptions {
  /** Timeout of the whole exchange: name resolution, connection, request, and response with its body. */
  readonly timeoutMs: number;
  /** The HTTP proxy through which public addresses are reached. Default: none. */
  readonly proxy?: string | undefined;
  /** Maximum size of a response body in bytes, decompressed. Default: 1 MiB. */
  readonly maxBytes?: number;
}

const MAX_BYTES = 1024 * 1024;

/**
 * A `fetch` for URLs chosen by others. It connects only to public addresses, each checked when the connection is made;
 * it follows no redirects, whatever the caller says: the response is the redirect itself; it uses no proxy but its own and no
 * cookies, keeps no connections open, and limits the time and the body of a response. Takes text or a `URL`.
 */
export function guardedFetch(options: GuardedFetchOptions): typeof fetch {
  const { proxy } = options;
  const dispatcher = new undici.Agent({
    connect:
      proxy === undefined
        ? { timeout: options.timeoutMs, allowH2: false, ...lookupBy(options) }
        : proxiedConnect({ ...options, proxy }),
    // a kept connection would be used without another check
    pipelining: 0,
  });
  const { timeoutMs, maxBytes = MAX_BYTES } = options;
  const send = async (input: string | URL | Request, init: RequestInit = {}): Promise<undici.Response> => {
    if (typeof input !== "string" && !(input instanceof URL)) throw new TypeError("a URL is required");
    // a literal address in a URL is not looked up
    checkUrl(new URL(input), options);
    const timeout = AbortSignal.timeout(timeoutMs);
    const response = await undici.fetch(input, {
      ...(init as unknown as undici.RequestInit),
      redirect: "manual",
      signal: init.signal ? AbortSignal.any([init.signal, timeout]) : timeout,
      dispatcher,
    });
    return boundBody(response, maxBytes);
  };
  // the package's own classes are those of Node.js, which takes them from this package
  return send;
}

/** How `net.connect` resolves names: it connects only to addresses returned here. */
function lookupBy({ allowPrivate, resolve }: TargetOptions): { lookup?: LookupFunction } {
  const find = allowPrivate ? resolve : (hostname: string) => publicAddresses(hostname, resolve);
  // the system's own resolver
  if (find === undefined) return {};
  const lookup: LookupFunction = (hostname, { all }, callback) => {
    find(hostname).then(
      (addresses) => {
        const found = addresses.map((address) => ({ address, family: isIP(address) }));
        const [first] = found;
        if (first === undefined) callback(new Error("the host name cannot be resolved"), "", 0);
        else if (all) callback(null, found);
        else callback(null, first.address, first.family);
      },
      (error: unknown) => {
        callback(error instanceof Error ? error : new Error(String(error)), "", 0);
      },
    );
  };
  return { lookup };
}

function boundBody(response: undici.Response, maxBytes: number): undici.Response {
  if (response.body === null) return response;
  let read = 0;
  const counting = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      read += chunk.byteLength;
      if (read > maxBytes) controller.error(new Error(`the response has more than ${maxBytes} bytes`));
      else controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  return new undici.Response(response.body.pipeThrough(counting), { status, statusText, headers });
}
