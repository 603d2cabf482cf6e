import { randomUUID } from "node:crypto";
import type { GatewayConfig } from "../config/index.ts";
import { namesNotFromClients, OWN_PREFIXES, speaksTls } from "../gateway/index.ts";
import type { ProxyReason } from "../reasons.ts";
import type { RawRequest } from "../request/index.ts";

/** A request as our Envoy hands it to the service, or why it never does. */
export type ThroughEnvoy =
  | { readonly ok: true; readonly raw: RawRequest }
  | { readonly ok: false; readonly reason: RequestRefusal; readonly detail: string };

/** Reasons for which Envoy refuses a request for what it is, and not for what is going on. */
export const REQUEST_REFUSALS = [
  "PATH_REFUSED",
  "MALFORMED_REQUEST",
  "UPGRADE_NOT_SUPPORTED",
  "REQUEST_TOO_LARGE",
  "HEADERS_TOO_LARGE",
  "TOO_MANY_HEADERS",
  "REFUSED_BY_PROXY",
] as const satisfies readonly ProxyReason[];
type RequestRefusal = (typeof REQUEST_REFUSALS)[number];

/**
 * What our Envoy does with a request over HTTP/1.1 before anybody is asked. A test sends the same requests through the real
 * one (`test/e2e/explain-parity.test.ts`).
 *
 * @param peer - address of the connection's other end
 */
export function throughEnvoy(sent: RawRequest, config: GatewayConfig, peer: string): ThroughEnvoy {
  const refused = (reason: RequestRefusal, detail: string): ThroughEnvoy => ({ ok: false, reason, detail });
  const { method, headers } = sent;
  const isTls = speaksTls(config);
  if (!METHODS.has(method)) return refused("MALFORMED_REQUEST", "http1.codec_error");
  if (headers.some(([name, value]) => !TOKEN.test(name) || CONTROL.test(value))) {
    return refused("MALFORMED_REQUEST", "http1.codec_error");
  }
  if (headers.length > MAX_HEADERS) return refused("TOO_MANY_HEADERS", "http1.too_many_headers");
  const size = headers.reduce((sum, [name, value]) => sum + name.length + value.length, sent.target.length);
  if (size > MAX_HEADER_BYTES) return refused("HEADERS_TOO_LARGE", "http1.headers_too_large");
  if (!VISIBLE.test(sent.target)) return refused("MALFORMED_REQUEST", "http1.codec_error");
  if (headers.some(([name]) => name === "content-length" || name === "transfer-encoding")) {
    if (!headers.every(isFraming)) return refused("MALFORMED_REQUEST", "http1.codec_error");
  }
  if (method === "CONNECT") return refused("UPGRADE_NOT_SUPPORTED", "upgrade_failed");

  const target = splitTarget(sent);
  if (target === undefined) return refused("MALFORMED_REQUEST", "http1.invalid_url");
  if (target.scheme === "https" && !isTls) return refused("MALFORMED_REQUEST", "http1.invalid_scheme");
  if (!target.path.startsWith("/")) return refused("PATH_REFUSED", "absolute_path_rejected");
  if (target.path.includes("#")) return refused("PATH_REFUSED", "path_normalization_failed");
  const upgrade = headers.filter(([name]) => name === "upgrade").map(([, value]) => value.toLowerCase());
  const upgrades = upgrade.length > 0 && listed(headers, "connection").includes("upgrade");
  if (upgrades && (method !== "GET" || upgrade.join(",") !== "websocket")) {
    return refused("UPGRADE_NOT_SUPPORTED", "upgrade_failed");
  }
  if (method === "QUERY" && !headers.some(([name]) => name === "content-type")) {
    return refused("MALFORMED_REQUEST", "query_missing_content_type");
  }
  const body = sent.body?.bytes.length ?? 0;
  if (body > config.gateway.security.request_size_limit) {
    return refused("REQUEST_TOO_LARGE", "rbac_access_denied_matched_policy[request_too_large]");
  }
  const scheme = isTls ? "https" : "http";
  const forwarded = headers.filter(([name]) => name === "x-forwarded-for").map(([, value]) => value);
  return {
    ok: true,
    raw: {
      ...sent,
      target: target.path,
      host: target.host.replace(/\.(?=:[0-9]+$|$)/, ""),
      scheme,
      headers: [
        ...headers.filter(([name]) => !isRemoved(name, config, upgrades)),
        ["x-forwarded-for", [...forwarded, peer].join(",")],
        ["x-forwarded-proto", scheme],
        ["x-request-id", randomUUID()],
      ],
    },
  };
}

/** Envoy's codec for HTTP/1 knows these and no other. */
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
/** `Host` and `Connection` of a client come on top of what is written down. */
const MAX_HEADERS = 98;
const MAX_HEADER_BYTES = 64 * 1024;

function isFraming([name, value]: RawRequest["headers"][number]): boolean {
  if (name === "content-length") return /^[0-9]+$/.test(value);
  return name !== "transfer-encoding" || value.toLowerCase() === "chunked";
}

/** RFC 9112, section 3.2.2: the authority of an absolute target is the host, whatever `Host` says. */
function splitTarget({ method, target, host }: RawRequest): Target | undefined {
  if (target.startsWith("/") || (target === "*" && method === "OPTIONS")) {
    return { scheme: "", path: target, host };
  }
  const [, scheme = "", authority, path = "/"] = /^(https?):\/\/([^/?#]+)([/?].*)?$/i.exec(target) ?? [];
  return authority === undefined
    ? undefined
    : { scheme: scheme.toLowerCase(), path, host: authority.replace(/^.*@/, "") };
}

interface Target {
  /** Of an absolute target. */
  readonly scheme: string;
  readonly path: string;
  readonly host: string;
}

function listed(headers: RawRequest["headers"], wanted: string): readonly string[] {
  const values = headers.filter(([name]) => name === wanted).map(([, value]) => value);
  return values.flatMap((value) => value.toLowerCase().split(",")).map((value) => value.trim());
}

const OF_ONE_HOP = ["connection", "keep-alive", "proxy-connection", "transfer-encoding"];
/**
 * Envoy says these itself: who is asking, behind what the client has said (for a loopback address the machine's own, which is not
 * known here), what the listener speaks, and by which id the request goes.
 */
const SAID_BY_ENVOY = ["x-forwarded-for", "x-forwarded-proto", "x-request-id"];

/** What Envoy takes away before it asks; the service takes away the rest. */
function isRemoved(name: string, config: GatewayConfig, upgrades: boolean): boolean {
  if (OF_ONE_HOP.includes(name)) return !(upgrades && name === "connection");
  return (
    SAID_BY_ENVOY.includes(name) ||
    OWN_PREFIXES.some((prefix) => name.startsWith(prefix)) ||
    namesNotFromClients(config).has(name)
  );
}
