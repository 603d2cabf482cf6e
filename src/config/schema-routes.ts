import * as z from "zod";
import { parsePattern } from "../policy/evaluation.ts";
import { duration, maps, setting, size, text } from "../setting-types.ts";

/** The types of limits that apply to all requests, and that a route may have of its own. */
export const upstreamTimeout = duration("10ms", "24h");
export const responseTimeout = duration("100ms", "24h");
export const requestTimeout = duration("100ms", "24h");
export const idleTimeout = duration("1s", "24h");
export const requestSizeLimit = size(1, 4_000_000_000);
export const responseSizeLimit = size(1, 1_000_000_000);

/** Envoy compares a request with every route in turn. */
const MOST_ROUTES = 100;

/** A path pattern of policies. */
const pattern = text().superRefine((value, context) => {
  for (const { severity, message, hint } of parsePattern(value, "rest").findings)
    if (severity === "error")
      context.addIssue(hint === undefined ? message : `is invalid: ${message}; ${hint}`);
});

const route = z.strictObject(
  {
    path: pattern,
    upstream_timeout: upstreamTimeout.optional(),
    response_timeout: responseTimeout.optional(),
    request_timeout: requestTimeout.optional(),
    idle_timeout: idleTimeout.optional(),
    request_size_limit: requestSizeLimit.optional(),
    response_size_limit: responseSizeLimit.optional(),
  },
  { error: "must be a map with `path` and limits" },
);

export const routes = setting(
  maps(route, "`{ path, ... }` with limits").refine(
    (all) => all.length <= MOST_ROUTES,
    `must have at most ${String(MOST_ROUTES)} entries`,
  ),
  [],
  "Limits of single paths, instead of the keys with these names: `upstream_timeout`, `response_timeout`, " +
    "`request_size_limit`, `response_size_limit`, `request_timeout` (not shorter than `gateway.performance.request_timeout`), and `idle_timeout` " +
    "(instead of `gateway.stream_idle_timeout` and `gateway.websocket_idle_timeout`). `path` is a pattern as in policies " +
    "(`/api/exports/{id}`, `/uploads/**`), whatever the letter case; the most specific one applies. If a path can be read in " +
    "several ways, the strictest limits apply. Envoy has one `request_timeout` for all requests, the longest: with a longer " +
    "one on any route, any client may take that long to send a body.",
);
