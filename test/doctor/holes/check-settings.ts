import { managerOf, routesOf, type Loose } from "../support.ts";
import { BODY_CHECK, both, type NamedHole } from "./support.ts";

export const CHECK_SETTINGS_HOLES: readonly NamedHole[] = [
  ["FAILURE_MODE_ALLOW", "at the first check", { plant: (b) => (both(b)[0].failure_mode_allow = true) }],
  ["FAILURE_MODE_ALLOW", "at the second check", { plant: (b) => (both(b)[1].failure_mode_allow = true) }],
  ["ERROR_LOOKS_LIKE_SUCCESS", "200", { plant: (b) => (both(b)[0].status_on_error = { code: 200 }) }],
  ["ERROR_LOOKS_LIKE_SUCCESS", "302", { plant: (b) => (both(b)[1].status_on_error = { code: "Found" }) }],
  [
    "FAILURE_MODE_ALLOW",
    "with a header that says so",
    {
      plant: (b) => {
        both(b)[0].failure_mode_allow = true;
        both(b)[0].failure_mode_allow_header_add = true;
      },
    },
  ],
  [
    "BODY_NOT_SENT",
    "the second check was removed",
    {
      plant: (b) => {
        managerOf(b).http_filters = managerOf(b).http_filters.filter(
          ({ name }: Loose) => name !== BODY_CHECK,
        );
        for (const route of routesOf(b)) delete route.typed_per_filter_config["gatehouse.ext_authz.body"];
      },
    },
  ],
  [
    "BODY_NOT_SENT",
    "off on a route",
    {
      plant: (b) => {
        const settings = routesOf(b).at(-1).typed_per_filter_config[BODY_CHECK];
        settings.check_settings.disable_request_body_buffering = true;
      },
    },
  ],
  [
    "BODY_PARTIAL",
    "on a route",
    {
      plant: (b) => {
        const { check_settings: settings } = routesOf(b).at(-1).typed_per_filter_config[BODY_CHECK];
        settings.with_request_body = { max_request_bytes: 1024, allow_partial_message: true };
      },
    },
  ],
  [
    "BODY_PARTIAL",
    "partial messages",
    { plant: (b) => (both(b)[1].with_request_body.allow_partial_message = true) },
  ],
  [
    "BODY_LIMIT_TOO_SMALL",
    "1 KiB",
    { plant: (b) => (both(b)[1].with_request_body.max_request_bytes = 1024) },
  ],
  ["BODY_AS_TEXT", "as a string", { plant: (b) => delete both(b)[1].with_request_body.pack_as_bytes }],
  ["HEADERS_JOINED", "joined", { plant: (b) => delete both(b)[0].encode_raw_headers }],
  [
    "HEADERS_HIDDEN",
    "only some are sent",
    { plant: (b) => (both(b)[0].allowed_headers = { patterns: [{ exact: "authorization" }] }) },
  ],
  ["MUTATIONS_UNCHECKED", "not validated", { plant: (b) => delete both(b)[0].validate_mutations }],
  [
    "MUTATIONS_REFUSED",
    "disallowed",
    { plant: (b) => (both(b)[0].decoder_header_mutation_rules = { disallow_all: true }) },
  ],
  [
    "OLD_PROTOCOL",
    "an HTTP service",
    {
      plant: (b) => {
        delete both(b)[0].grpc_service;
        both(b)[0].http_service = {
          server_uri: { uri: "http://127.0.0.1:9", cluster: "ext_authz", timeout: "1s" },
        };
      },
    },
  ],
];
