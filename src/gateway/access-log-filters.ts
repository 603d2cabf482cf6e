import { extension, type EnvoyJson } from "./envoy-json.ts";

// Envoy's AccessLogFilter, by which access logs and local replies tell requests apart.

export function allOf(...filters: readonly [EnvoyJson, ...EnvoyJson[]]): EnvoyJson {
  // Envoy takes no list of one
  return filters.length === 1 ? filters[0] : { and_filter: { filters } };
}

export function anyOf(...filters: readonly EnvoyJson[]): EnvoyJson {
  return { or_filter: { filters } };
}

/** The status of the answer. */
export function status(op: "EQ" | "GE" | "LE", code: number): EnvoyJson {
  const value = { default_value: code, runtime_key: "gatehouse.unused" };
  return { status_code_filter: { comparison: { op, value } } };
}

/** Any of these response flags; without names, any at all. */
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
 * A member of the request's metadata. No notice is taken of the matcher's `invert`.
 *
 * @param otherwise - whether it matches where there is no such member
 */
export function matchMetadata(filter: string, key: string, value: EnvoyJson, otherwise: boolean): EnvoyJson {
  return {
    metadata_filter: { matcher: { filter, path: [{ key }], value }, match_if_key_not_found: otherwise },
  };
}

/** The request is over; else it is a report of one that is under way. */
export const IS_OVER: EnvoyJson = { log_type_filter: { types: ["DownstreamEnd"] } };
export const IS_UNDER_WAY: EnvoyJson = { log_type_filter: { types: ["DownstreamPeriodic"] } };
