import type { Door } from "../decision/point/index.ts";
import { delivered, encoder, type HttpAnswer } from "./answer.ts";
import { originalHopByHop } from "./described.ts";
import { checkOf, knownScheme, once, oneAddress, type SubRequest } from "./sub-request.ts";

const METHOD = "x-forwarded-method";
const TARGET = "x-forwarded-uri";
const HOST = "x-forwarded-host";
const SCHEME = "x-forwarded-proto";
const ADDRESS = "x-forwarded-for";
/**
 * The entry point removes a client's own and sets these for every request; the question has the port, and in older versions all
 * three. `X-Scheme` and `X-Forwarded-Scheme` are not among them: most versions forward the client's, and those that remove
 * it leave the headers out of the question.
 */
const OF_ENTRY_POINT = ["x-real-ip", "x-forwarded-port", "x-forwarded-server"];
const SOURCES = new Set([
  ...[METHOD, TARGET, HOST, SCHEME, ADDRESS, ...OF_ENTRY_POINT],
  ...["x-original-connection", "x-original-upgrade"],
]);

/**
 * Traefik `forwardAuth`. It describes the request by its own headers, but hides `Connection` and `Upgrade`: another
 * middleware removes both from the request, and says so by `X-Original-Connection` and `X-Original-Upgrade`. Where that
 * is missing, a request may be a WebSocket handshake, and is refused.
 */
export const traefik: Door<SubRequest, HttpAnswer> = {
  decode: (message, call) =>
    checkOf(
      message,
      {
        method: once(message, METHOD),
        target: once(message, TARGET),
        protocol: "",
        host: once(message, HOST),
        scheme: knownScheme(once(message, SCHEME)),
        address: oneAddress(once(message, ADDRESS)),
        hopByHop: originalHopByHop(message),
        hidesForwarding: true,
      },
      SOURCES,
      call,
    ),
  encode: encoder({ of: delivered, lastResort: 500 }),
};
