import type { Door, Encoder } from "../decision/point/index.ts";
import { delivered, encoder, type HttpAnswer } from "./answer.ts";
import { ORIGINAL_CONNECTION, originalConnection } from "./described.ts";
import { checkOf, once, type SubRequest } from "./sub-request.ts";

/** `path_prefix` in Envoy's configuration; the original path follows. */
export const ENVOY_PREFIX = "/envoy-http";

const PROTOCOL = "x-original-protocol";
/** Envoy sets these itself, here or in the request, whatever the client sent. */
const OWN = [
  "x-envoy-expected-rq-timeout-ms",
  "x-envoy-external-address",
  "x-envoy-internal",
  "x-forwarded-for",
  "x-forwarded-proto",
  "x-request-id",
];
/** Envoy appends to X-Forwarded-For, so the answer replaces it; it does nothing about X-Forwarded-Host. */
const OVERWRITTEN = new Set(["x-forwarded-for", "x-forwarded-proto"]);
const SOURCES = new Set([...ORIGINAL_CONNECTION, PROTOCOL, ...OWN]);

/**
 * Envoy's `ext_authz` over HTTP: the sub-request has the method, path and host of the request. To Envoy a 5xx is a failed
 * check, which `failure_mode_allow` lets through, so no decision has one.
 */
export const envoyHttp: Door<SubRequest, HttpAnswer> = {
  decode: (message, call) => ({
    ...checkOf(
      message,
      {
        method: message.method,
        target: message.target.slice(ENVOY_PREFIX.length),
        protocol: once(message, PROTOCOL),
        host: once(message, "host"),
        ...originalConnection(message),
        tunnels: true,
        hidesForwarding: true,
      },
      SOURCES,
      call,
    ),
    overwrites: OVERWRITTEN,
    behindEnvoy: true,
  }),
  encode: withAddress(
    encoder({ of: (status) => (status >= 500 ? 403 : delivered(status)), lastResort: 403 }),
  ),
};

function withAddress(encode: Encoder<HttpAnswer>): Encoder<HttpAnswer> {
  return {
    ...encode,
    permit(permit, check, effects) {
      const answer = encode.permit(permit, check, effects);
      const others = answer.headers.filter(([name]) => name !== "x-forwarded-for");
      // of a client behind a trusted proxy, nobody knows it
      const address = permit.clientIp === "" ? check.access.peer : permit.clientIp;
      return { ...answer, headers: [...others, ["x-forwarded-for", address]] };
    },
  };
}
