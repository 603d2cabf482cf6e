import { extension, type EnvoyJson } from "./envoy-json.ts";

// Envoy's AccessLogFilter, with which access logs and local replies select requests.

export function allOf(...filters: readonly [EnvoyJson, ...EnvoyJson[]]): EnvoyJson {
  // Envoy rejects a list of one
  return filters.length === 1 ? filters[0] : { and_filter: { filters } };
}

export function anyOf(...filters: readonly EnvoyJson[]): EnvoyJson {
  return { or_filter: { filters } };
}

/** Matches the response status. */
export function status(op: "EQ" | "GE" | "LE", code: number): EnvoyJson {
  const value = { default_value: code, runtime_key: "gatehouse.unused" };
  return { status_code_filter: { comparison: { op, value } } };
}

/** Matches any of these response flags; without names, any flag. */
export function flags(...names: readonly string[]): EnvoyJson {
  return { response_flag_filter: names.length === 0 ? {} : { flags: names } };
}

/** An expression in CEL, which costs more than the other filters. */
export function expression(text: string): EnvoyJson {
  return {
    extension_filter: extension(
      "envoy.access_loggers.extension_filters.cel",
      "envoy.extensions.access_loggers.filters.cel.v3.ExpressionFilter",
      { expression: text },
    ),
  };
}

/**
 * Matches a member of the request's metadata. Envoy ignores the matcher's `invert` here.
 *
 * @param otherwise - whether it matches if there is no such member
 */
export function matchMetadata(filter: string, key: string, value: EnvoyJson, otherwise: boolean): EnvoyJson {
  return {
    metadata_filter: { matcher: { filter, path: [{ key }], value }, match_if_key_not_found: otherwise },
  };
}

/** Matches entries at the end of a request, not reports of one in progress. */
export const IS_OVER: EnvoyJson = { log_type_filter: { types: ["DownstreamEnd"] } };
export const IS_UNDER_WAY: EnvoyJson = { log_type_filter: { types: ["DownstreamPeriodic"] } };
