import type { Door } from "../decision/point/index.ts";
import { delivered, encoder, type HttpAnswer } from "./answer.ts";
import { SpopReader, type SpopValue } from "./spop-codec.ts";
import { checkOf, type SubRequest } from "./sub-request.ts";

/** The arguments of HAProxy's message. */
export type HaproxyMessage = ReadonlyMap<string, SpopValue>;

/**
 * HAProxy with a SPOE filter. It sends all headers as they are (`req.hdrs_bin`), `Connection` and `Upgrade` included, and the
 * target as the client wrote it (`url`).
 */
export const haproxy: Door<HaproxyMessage, HttpAnswer> = {
  decode(message, call) {
    const headers = headersIn(bytesOf(message, "headers"));
    const hosts = headers.flatMap(([name, value]) => (name === "host" ? [value] : []));
    if (hosts.length > 1) throw new Error("the request has more than one host");
    const method = textOf(message, "method");
    const protocol = `HTTP/${textOf(message, "version").replace(/^([23])\.0$/, "$1")}`;
    const host = hosts[0] ?? "";
    const target = forwardedTarget(textOf(message, "target"), protocol, host);
    return checkOf(
      { method, target, headers: headers.filter(([name]) => !HOP_BY_HOP.has(name)) },
      {
        ...{ method, target, protocol, host },
        scheme: flagOf(message, "tls") ? "https" : "http",
        address: addressOf(message),
        hopByHop: headers.filter(([name]) => HOP_BY_HOP.has(name)),
        tellsHopByHop: true,
        tunnels: true,
      },
      NONE,
      call,
    );
  },
  encode: encoder({ of: delivered, lastResort: 500 }),
};

/**
 * HTTP/2 and HTTP/3 have no such thing as a target: there, HAProxy makes one URL of `:scheme`, `:authority` and `:path`, and forwards
 * the path. One with another host than the request's stays as it is, and is refused like any absolute target.
 */
function forwardedTarget(target: string, protocol: string, host: string): string {
  if (protocol !== "HTTP/2" && protocol !== "HTTP/3") return target;
  const [, authority, path] = /^https?:\/\/([^/?#]+)(\/.*)$/s.exec(target) ?? [];
  return path !== undefined && authority === host ? path : target;
}

const NONE: ReadonlySet<string> = new Set();
/** Of the client: `checkOf` takes them apart, because of other proxies a sub-request has its own. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  ...["connection", "content-length", "keep-alive", "te", "transfer-encoding", "upgrade"],
]);

/** `req.hdrs_bin`: names and values, up to an empty name with an empty value. */
function headersIn(bytes: Buffer): SubRequest["headers"] {
  const reader = new SpopReader(bytes);
  const found: (readonly [string, string])[] = [];
  for (;;) {
    const [name, value] = [reader.name(), reader.name()];
    if (name === "" && value === "") break;
    found.push([name.toLowerCase(), value]);
  }
  if (!reader.atEnd) throw new Error("something follows the headers");
  return found;
}

function bytesOf(message: HaproxyMessage, name: string): Buffer {
  const value = message.get(name);
  if (!Buffer.isBuffer(value)) throw new Error(`HAProxy did not send ${name}`);
  return value;
}

function textOf(message: HaproxyMessage, name: string): string {
  return bytesOf(message, name).toString("latin1");
}

function flagOf(message: HaproxyMessage, name: string): boolean {
  const value = message.get(name);
  if (typeof value !== "boolean") throw new Error(`HAProxy did not send ${name}`);
  return value;
}

function addressOf(message: HaproxyMessage): string {
  const value = message.get("address");
  if (typeof value !== "object" || Buffer.isBuffer(value)) throw new Error("HAProxy did not send address");
  return value.address;
}
