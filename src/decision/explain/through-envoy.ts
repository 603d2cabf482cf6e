import type { ProxyReason } from "../../reasons.ts";
import type { RawRequest } from "../../request/index.ts";

/** What Envoy's treatment of a request depends on. Plain JSON. */
export interface EnvoySettings {
  readonly tls: boolean;
  /** The headers with which proxies describe a request are believed. */
  readonly believesHeaders: boolean;
  /** Names and prefixes of headers that Envoy removes, whoever sends them; in lower case. */
  readonly removed: readonly string[];
  readonly removedPrefixes: readonly string[];
  /** The largest body of any route, in bytes. */
  readonly largestRequest: number;
}

/** A request as our Envoy passes it to the service, or why it does not. */
export type ThroughEnvoy =
  | { readonly ok: true; readonly raw: RawRequest }
  | { readonly ok: false; readonly reason: RequestRefusal; readonly detail: string };

/** Reasons for which Envoy refuses a request because of its content, not because of load or time. */
export const REQUEST_REFUSALS = [
  "PATH_REFUSED",
  "MALFORMED_REQUEST",
  "UPGRADE_NOT_SUPPORTED",
  "REQUEST_TOO_LARGE",
  "HEADERS_TOO_LARGE",
  "TOO_MANY_HEADERS",
] as const satisfies readonly ProxyReason[];
type RequestRefusal = (typeof REQUEST_REFUSALS)[number];

/**
 * What our Envoy does with an HTTP/1.1 request before it asks the service. A test sends the same requests through a real
 * Envoy (`test/e2e/policies/explain-parity.test.ts`).
 *
 * @param peer - address of the client end of the connection
 */
export function throughEnvoy(sent: RawRequest, settings: EnvoySettings, peer: string): ThroughEnvoy {
  const refused = (reason: RequestRefusal, detail: string): ThroughEnvoy => ({ ok: false, reason, detail });
  const { method, headers } = sent;
  const { tls: isTls, believesHeaders: believed } = settings;
  if (!METHODS.has(method)) return refused("MALFORMED_REQUEST", "http1.codec_error");
  if (!headers.every(([name]) => TOKEN.test(name))) return refused("MALFORMED_REQUEST", "http1.codec_error");
  if ([sent.target, sent.host, ...headers.map(([, value]) => value)].some((text) => CONTROL.test(text))) {
    return refused("MALFORMED_REQUEST", "http1.invalid_characters");
  }
  if (headers.length > MAX_HEADERS) return refused("TOO_MANY_HEADERS", "http1.too_many_headers");
  const size = headers.reduce((sum, [name, value]) => sum + name.length + value.length, sent.target.length);
  if (size > MAX_HEADER_BYTES) return refused("HEADERS_TOO_LARGE", "http1.headers_too_large");
  if (!VISIBLE.test(sent.target) || (method !== "CONNECT" && !TARGET.test(sent.target))) {
    return refused("MALFORMED_REQUEST", "http1.codec_error");
  }
  if (headers.some(([name]) => name === "content-length" || name === "transfer-encoding")) {
    if (!headers.every(isFraming)) return refused("MALFORMED_REQUEST", "http1.codec_error");
  }
  if (method === "CONNECT") return refused("UPGRADE_NOT_SUPPORTED", "upgrade_failed");

  const { upgrade, nominated, removed } = readConnection(headers);
  if (nominated.length >= MAX_NOMINATED || nominated.some((name) => NOT_NOMINATED.test(name))) {
    return refused("MALFORMED_REQUEST", "http1.connection_header_rejected");
  }
  const target = splitTarget(sent);
  if (target === undefined) return refused("MALFORMED_REQUEST", "http1.invalid_url");
  if (!["", "http", "https"].includes(target.scheme)) {
    return refused("MALFORMED_REQUEST", "http1.invalid_scheme");
  }
  if (target.scheme === "https" && !isTls) {
    return refused("MALFORMED_REQUEST", "http1.https_url_on_plaintext_connection");
  }
  if (target.scheme === "" && removed.has("host")) return refused("MALFORMED_REQUEST", "missing_host_header");
  if (!AUTHORITY.test(target.host)) return refused("MALFORMED_REQUEST", "http.invalid_authority");
  if (!target.path.startsWith("/")) return refused("PATH_REFUSED", "absolute_path_rejected");
  if (target.path.includes("#")) return refused("PATH_REFUSED", "path_normalization_failed");
  if (upgrade !== undefined && (method !== "GET" || upgrade !== "websocket")) {
    return refused("UPGRADE_NOT_SUPPORTED", "upgrade_failed");
  }
  // of trusted proxies, the service gets both as they were sent
  const saidByEnvoy = new Set(believed ? ["x-request-id"] : SAID_BY_ENVOY);
  // the service removes the rest
  const notFromClients = new Set(settings.removed);
  const kept = headers.filter(
    ([name, value]) =>
      !removed.has(name) &&
      !notFromClients.has(name) &&
      !saidByEnvoy.has(name) &&
      !settings.removedPrefixes.some((prefix) => name.startsWith(prefix)) &&
      !(name === "expect" && CONTINUE.test(value)),
  );
  if (method === "QUERY" && !kept.some(([name]) => name === "content-type")) {
    return refused("MALFORMED_REQUEST", "query_missing_content_type");
  }
  const body = sent.body?.bytes.length ?? 0;
  if (body > settings.largestRequest) {
    return refused("REQUEST_TOO_LARGE", "rbac_access_denied_matched_policy[request_too_large]");
  }
  const scheme = isTls ? "https" : "http";
  return {
    ok: true,
    raw: {
      ...sent,
      target: target.path,
      host: target.host.replace(/\.(?=:[0-9]+$|$)/, ""),
      scheme,
      headers: [
        ...kept,
        ...(listed(headers, "te").includes("trailers") ? [["te", "trailers"] as const] : []),
        ...(believed ? [] : [["x-forwarded-for", peer] as const]),
        ...(kept.some(([name]) => name === "x-forwarded-proto")
          ? []
          : [["x-forwarded-proto", scheme] as const]),
        ["x-request-id", newRequestId()],
      ],
    },
  };
}

/** A random UUID. A page that is not served over https has no `crypto.randomUUID`. */
function newRequestId(): string {
  const hex = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  );
  const [a, b, c, d] = [hex.slice(0, 4), hex.slice(4, 6), hex.slice(6, 8), hex.slice(8, 10)].map((part) =>
    part.join(""),
  );
  return `${a ?? ""}-${b ?? ""}-4${(c ?? "").slice(1)}-a${(d ?? "").slice(1)}-${hex.slice(10).join("")}`;
}

/** The methods that Envoy's HTTP/1 codec accepts. */
const METHODS = new Set(
  (
    "ACL BIND CHECKOUT CONNECT COPY DELETE GET HEAD LINK LOCK MERGE MKACTIVITY MKCALENDAR MKCOL MOVE MSEARCH NOTIFY " +
    "OPTIONS PATCH POST PROPFIND PROPPATCH PURGE PUT QUERY REBIND REPORT SEARCH SOURCE SUBSCRIBE TRACE UNBIND UNLINK " +
    "UNLOCK UNSUBSCRIBE"
  ).split(" "),
);
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;
const CONTROL = /[\0-\x08\x0a-\x1f\x7f]/;
const VISIBLE = /^[\x21-\x7e]+$/;
/** A path, `*`, or a scheme and an authority. */
const TARGET = /^(?:[/*]|[a-z][a-z0-9+.-]*:\/\/[!$%&'()*+,\-.0-9:;=@A-Z[\]_~]*(?:[/?]|$))/i;
const AUTHORITY = /^[!$%&'()*+,\-.0-9:;=@A-Z[\]_a-z~]*$/;
/** Envoy handles it itself and removes it. */
const CONTINUE = /^100-continue$/i;
/** A client adds `Host` and `Connection` to the headers given. */
const MAX_HEADERS = 198;
const MAX_HEADER_BYTES = 64 * 1024;

function isFraming([name, value]: RawRequest["headers"][number]): boolean {
  if (name === "content-length") return /^[0-9]+$/.test(value);
  return name !== "transfer-encoding" || value.toLowerCase() === "chunked";
}

/** RFC 9112, section 3.2.2: the authority of an absolute target is the host; `Host` is ignored. */
function splitTarget({ method, target, host }: RawRequest): Target | undefined {
  if (target.startsWith("/") || (target === "*" && method === "OPTIONS")) {
    return { scheme: "", path: target, host };
  }
  const [, scheme = "", authority, path = "/"] =
    /^([^:/]+):\/\/(?:[^/?@]*@)?([^/?@]+)([/?].*)?$/.exec(target) ?? [];
  return authority === undefined ? undefined : { scheme: scheme.toLowerCase(), path, host: authority };
}

interface Target {
  /** Present for an absolute target. */
  readonly scheme: string;
  readonly path: string;
  readonly host: string;
}

function valuesOf(headers: RawRequest["headers"], wanted: string): readonly string[] {
  return headers.filter(([name]) => name === wanted).map(([, value]) => value);
}

function listed(headers: RawRequest["headers"], wanted: string): readonly string[] {
  return valuesOf(headers, wanted).flatMap((value) => value.split(",").map((part) => part.trim()));
}

interface Connection {
  /** The protocol that the client asks to upgrade to, in lower case. */
  readonly upgrade: string | undefined;
  /** Names that `Connection` lists. */
  readonly nominated: readonly string[];
  /** Hop-by-hop headers, which are not forwarded. */
  readonly removed: ReadonlySet<string>;
}

/** An upgrade to HTTP/2 is ignored; any other keeps the headers that `Connection` lists, for the service to check. */
function readConnection(headers: RawRequest["headers"]): Connection {
  const names = listed(headers, "connection").map((name) => name.toLowerCase());
  const upgrades = valuesOf(headers, "upgrade");
  const asked =
    upgrades.length > 0 && names.includes("upgrade") ? upgrades.join(",").toLowerCase() : undefined;
  if (asked !== undefined && asked !== "h2c") {
    return { upgrade: asked, nominated: [], removed: new Set(OF_ONE_HOP) };
  }
  const nominated = names.filter((name) => name !== "");
  const dropped = nominated.filter((name) => !OF_CONNECTION.includes(name));
  const ofUpgrade = asked === "h2c" ? ["upgrade", "http2-settings"] : ["upgrade"];
  return {
    upgrade: undefined,
    nominated,
    removed: new Set([...OF_ONE_HOP, "connection", ...ofUpgrade, ...dropped]),
  };
}

/** Envoy refuses this many names in `Connection`, or more. */
const MAX_NOMINATED = 10;
/** Names that `Connection` must not remove. */
const NOT_NOMINATED = /^(?:x-forwarded-(?:for|host|proto)$|:)/;
/** Tokens with a meaning of their own in `Connection`. */
const OF_CONNECTION = ["close", "http2-settings"];
/** `TE` is forwarded with the one token that Envoy leaves in it. */
const OF_ONE_HOP = ["keep-alive", "proxy-connection", "te", "transfer-encoding"];
/** Envoy sets these itself: the client's address, the listener's scheme, and the request id. */
const SAID_BY_ENVOY = ["x-forwarded-for", "x-forwarded-proto", "x-request-id"];
