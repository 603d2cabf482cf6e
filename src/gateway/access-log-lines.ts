import type { GatewayConfig } from "../config/index.ts";
import { DECISION, NAMESPACE } from "../envoy-contract.ts";
import { allOf, IS_OVER, status } from "./access-log-filters.ts";
import { DECIDED, UNDECIDED } from "./decision-metadata.ts";
import { extension, REQUEST_ID } from "./envoy-json.ts";
import type { EnvoyJson } from "./envoy-json.ts";

/** Metadata from the service for these lines. */
const DECISION_ID = `%DYNAMIC_METADATA(${NAMESPACE.decision}:${DECISION.record_id})%`;
const REDACTED_PATH = `%DYNAMIC_METADATA(${NAMESPACE.decision}:${DECISION.record_path})%`;

const MEMBERS: EnvoyJson = {
  time: "%START_TIME(%Y-%m-%dT%H:%M:%S.%3fZ)%",
  decision_id: DECISION_ID,
  peer: "%DOWNSTREAM_DIRECT_REMOTE_ADDRESS_WITHOUT_PORT%",
  method: "%REQ(:METHOD):32%",
  protocol: "%PROTOCOL%",
  status: "%RESPONSE_CODE%",
  response_flags: "%RESPONSE_FLAGS%",
  details: "%RESPONSE_CODE_DETAILS%",
  duration_ms: "%DURATION%",
  upstream: "%UPSTREAM_HOST%",
  upstream_ms: "%COMMON_DURATION(US_TX_BEG:US_RX_END:ms)%",
  bytes_received: "%BYTES_RECEIVED%",
  bytes_sent: "%BYTES_SENT%",
};

/** A path of only these characters, before a query, cannot contain a value: no parameters, nothing encoded. */
const PLAIN_PATH = "/[A-Za-z0-9._~!$&'()*+,:/-]*([?].*)?";
/** A path segment longer than 24 characters may be a token: other names are rarely that long. */
const LONG_PART = "[^?]*/[!-.0->@-~]{25}.*";
/** The beginning of a JSON Web Token, which may also be in a short segment if it is cut. */
const TOKEN_START = "eyJ";

function path(match: EnvoyJson): EnvoyJson {
  return { header_filter: { header: { name: ":path", ...match } } };
}

const IS_PLAIN = [
  path({ string_match: { safe_regex: { regex: PLAIN_PATH } } }),
  path({ string_match: { safe_regex: { regex: LONG_PART } }, invert_match: true }),
  path({ string_match: { contains: TOKEN_START }, invert_match: true }),
];
/** The negation; a request without a path is not plain either. */
const IS_NOT_PLAIN: EnvoyJson = {
  or_filter: {
    filters: [
      path({ string_match: { safe_regex: { regex: PLAIN_PATH } }, invert_match: true }),
      path({ string_match: { safe_regex: { regex: LONG_PART } } }),
      path({ string_match: { contains: TOKEN_START } }),
      path({ present_match: true, invert_match: true }),
    ],
  },
};

/**
 * `gateway.access_log`: one line of JSON per request, written by Envoy itself. Secrets are left out as in the audit: the path of
 * a decided request comes from the service, without values. If Envoy itself refused the request, its path is logged without
 * the query, and not at all if it may contain values elsewhere.
 */
export function accessLogLines({
  gateway: { access_log: destination },
}: GatewayConfig): readonly EnvoyJson[] {
  if (destination === "off") return [];
  const undecided = (id: string, isAnswered: EnvoyJson) => [
    {
      ...line(destination, { request_id: id, path: "%PATH(NQ:PATH):1024%" }),
      filter: allOf(IS_OVER, UNDECIDED, isAnswered, ...IS_PLAIN),
    },
    {
      ...line(destination, { request_id: id }),
      filter: allOf(IS_OVER, UNDECIDED, isAnswered, IS_NOT_PLAIN),
    },
  ];
  return [
    {
      ...line(destination, { request_id: REQUEST_ID, path: REDACTED_PATH }),
      filter: allOf(IS_OVER, DECIDED),
    },
    // an early refusal has the id of its response, otherwise the client's own
    ...undecided("%RESP(X-REQUEST-ID)%", status("GE", 1)),
    ...undecided(REQUEST_ID, status("EQ", 0)),
  ];
}

function line(destination: string, more: EnvoyJson): EnvoyJson {
  const format = { log_format: { omit_empty_values: true, json_format: { ...MEMBERS, ...more } } };
  return destination === "stderr"
    ? extension(
        "envoy.access_loggers.stderr",
        "envoy.extensions.access_loggers.stream.v3.StderrAccessLog",
        format,
      )
    : extension("envoy.access_loggers.file", "envoy.extensions.access_loggers.file.v3.FileAccessLog", {
        path: destination,
        ...format,
      });
}
