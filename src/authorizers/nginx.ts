import type { Door } from "../decision/point/index.ts";
import { encoder, type HttpAnswer } from "./answer.ts";
import { checkOf, hopByHop, knownScheme, once, oneAddress, type SubRequest } from "./sub-request.ts";

const REQUEST = "x-original-request";
const HOST = "x-original-host";
const SCHEME = "x-original-scheme";
const ADDRESS = "x-original-address";
const CONNECTION = "x-original-connection";
const UPGRADE = "x-original-upgrade";
const SOURCES = new Set([REQUEST, HOST, SCHEME, ADDRESS, CONNECTION, UPGRADE]);

/**
 * nginx `auth_request`. The request line comes whole (`$request`): unlike `$uri`, nginx cannot have decoded or merged it.
 * nginx omits headers without a value, so `Connection` and `Upgrade` come behind a `=`: a configuration that forgets them
 * is refused, instead of hiding that a request is a WebSocket handshake.
 */
export const nginx: Door<SubRequest, HttpAnswer> = {
  decode(message, call) {
    const line = /^([^ ]+) (.+) HTTP\/(\d(?:\.\d)?)$/s.exec(once(message, REQUEST));
    const [, method, target, version] = line ?? [];
    if (method === undefined || target === undefined || version === undefined)
      throw new Error(`${REQUEST} is not a request line`);
    return checkOf(
      message,
      {
        method,
        target,
        protocol: `HTTP/${version.replace(/^([23])\.0$/, "$1")}`,
        host: once(message, HOST),
        scheme: knownScheme(once(message, SCHEME)),
        address: oneAddress(once(message, ADDRESS)),
        hopByHop: [
          ...hopByHop("connection", afterEquals(once(message, CONNECTION))),
          ...hopByHop("upgrade", afterEquals(once(message, UPGRADE))),
        ],
      },
      SOURCES,
      call,
    );
  },
  // nginx knows 401 and 403; to any other denial it answers 500
  encode: encoder((status) => (status === 401 || status >= 500 ? status : 403)),
};

function afterEquals(text: string): string {
  if (!text.startsWith("=")) throw new Error("the value does not begin with `=`");
  return text.slice(1);
}
