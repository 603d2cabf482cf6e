import { ENVOY_PREFIX } from "../../../src/authorizers/envoy-http.ts";
import { varint, type SpopValue } from "../../../src/authorizers/spop-codec.ts";
import type { SubRequest } from "../../../src/authorizers/sub-request.ts";

export type Headers = readonly (readonly [name: string, value: string])[];

/** The address that a proxy names, unless a test names another. */
const PEER = "192.0.2.7";

export const valueOf = (headers: Headers, wanted: string) =>
  headers.find(([name]) => name === wanted)?.[1] ?? "";
const client = (headers: Headers) => headers.filter(([name]) => name !== "connection" && name !== "upgrade");
export const subRequest = (headers: Headers, method = "GET", target = "/"): SubRequest => ({
  method,
  target,
  headers,
});
const connection = (headers: Headers, peer: string): Headers => [
  ["x-original-scheme", "https"],
  ["x-original-address", peer],
  ["x-original-connection", `=${valueOf(headers, "connection")}`],
  ["x-original-upgrade", `=${valueOf(headers, "upgrade")}`],
];

/** From nginx or Caddy. */
export const withRequestLine = (path: string, headers: Headers, method = "GET", peer = PEER) =>
  subRequest([
    ...client(headers),
    ["x-original-request", `${method} ${path} HTTP/1.1`],
    ["x-original-host", "app.test"],
    ...connection(headers, peer),
  ]);
/** Traefik shows no `Connection` and `Upgrade`; its other middleware says that they are gone. */
export const fromTraefik = (path: string, headers: Headers, method = "GET", peer = PEER) =>
  subRequest([
    ...client(headers),
    ["x-forwarded-method", method],
    ["x-forwarded-uri", path],
    ["x-forwarded-host", "app.test"],
    ["x-forwarded-proto", "https"],
    ["x-forwarded-for", peer],
    ["x-original-connection", `=${valueOf(headers, "connection")}`],
    ["x-original-upgrade", `=${valueOf(headers, "upgrade")}`],
  ]);
export const fromEnvoy = (path: string, headers: Headers, method = "GET", peer = PEER) =>
  subRequest(
    [
      ["host", "app.test"],
      ...client(headers),
      ["x-forwarded-for", "192.0.2.7,192.0.2.8"],
      ["x-original-protocol", "HTTP/1.1"],
      ...connection(headers, peer),
    ],
    method,
    `${ENVOY_PREFIX}${path}`,
  );

export const text = (value: string) => Buffer.from(value, "latin1");
export const listed = (headers: Headers) =>
  Buffer.concat(
    [...headers, ["", ""] as const].flatMap(([name, value]) => [
      varint(name.length),
      text(name),
      varint(value.length),
      text(value),
    ]),
  );
export const fromHaproxy = (
  path: string,
  headers: Headers,
  method = "GET",
  peer = PEER,
): Map<string, SpopValue> =>
  new Map<string, SpopValue>([
    ["method", text(method)],
    ["target", text(path)],
    ["version", text("1.1")],
    ["headers", listed([["host", "app.test"], ...headers])],
    ["address", { address: peer }],
    ["tls", true],
  ]);
