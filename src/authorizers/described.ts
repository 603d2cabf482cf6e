import {
  afterEquals,
  hopByHop,
  knownScheme,
  once,
  oneAddress,
  type Described,
  type SubRequest,
} from "./sub-request.ts";

const REQUEST = "x-original-request";
const HOST = "x-original-host";
const SCHEME = "x-original-scheme";
const ADDRESS = "x-original-address";
const CONNECTION = "x-original-connection";
const UPGRADE = "x-original-upgrade";

/** Headers by which our configurations describe the connection. */
export const ORIGINAL_CONNECTION: ReadonlySet<string> = new Set([SCHEME, ADDRESS, CONNECTION, UPGRADE]);

/**
 * Headers by which our configurations describe a request. The decision does not see a client's own, so the configurations
 * remove them from what the application gets.
 */
export const ORIGINAL: ReadonlySet<string> = new Set([REQUEST, HOST, ...ORIGINAL_CONNECTION]);

/** @throws Error unless the request line is whole */
export function requestLine(message: SubRequest): Pick<Described, "method" | "target" | "protocol"> {
  const line = /^([^ ]+) (.+) HTTP\/(\d(?:\.\d)?)$/s.exec(once(message, REQUEST));
  const [, method, target, version] = line ?? [];
  if (method === undefined || target === undefined || version === undefined)
    throw new Error(`${REQUEST} is not a request line`);
  return { method, target, protocol: `HTTP/${version.replace(/^([23])\.0$/, "$1")}` };
}

export function originalHost(message: SubRequest): string {
  return once(message, HOST);
}

/** What a proxy is configured to say about the connection. */
export function originalConnection(
  message: SubRequest,
): Pick<Described, "scheme" | "address"> & Pick<Described, "hopByHop"> {
  return {
    scheme: knownScheme(once(message, SCHEME)),
    address: oneAddress(once(message, ADDRESS)),
    hopByHop: originalHopByHop(message),
  };
}

/**
 * The client's `Connection` and `Upgrade`. They come behind a `=`: a configuration that forgets them is refused, instead of
 * hiding that a request is a WebSocket handshake.
 */
export function originalHopByHop(message: SubRequest): Described["hopByHop"] {
  return [
    ...hopByHop("connection", afterEquals(once(message, CONNECTION))),
    ...hopByHop("upgrade", afterEquals(once(message, UPGRADE))),
  ];
}
