import type { JsonValue } from "../json/index.ts";

/** A request as it came over the wire, not yet interpreted. Created by a door, read only by `canonicalize`. */
export interface RawRequest {
  readonly method: string;
  /** The request target as received, query included; latin1: one character per byte. */
  readonly target: string;
  readonly scheme: string;
  /** Host or :authority; latin1. */
  readonly host: string;
  /** `HTTP/1.1`, `HTTP/2`, ...; empty if the proxy did not say. */
  readonly protocol: string;
  /** In order of arrival, names in lower case, repeated headers apart; values latin1. Without pseudo-headers. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Names of headers that the client sent too, but that neither rules nor the application get. */
  readonly removed?: readonly string[];
  /** Absent if the proxy did not send it: its content is unknown. Empty bytes mean that there is no body. */
  readonly body?: RawBody;
}

/** The body of a request without one. */
export const NO_BODY: RawBody = Object.freeze({ bytes: new Uint8Array(), complete: true });

export interface RawBody {
  readonly bytes: Uint8Array;
  /** False if the door saw only the beginning. */
  readonly complete: boolean;
}

/** The one reading of a request that rules see. */
export interface CanonicalRequest {
  readonly method: string;
  /** Decoded path segments without the empty one of a trailing slash: `/` is `[]`, `/a/b/` is `["a", "b"]`. */
  readonly segments: readonly string[];
  /**
   * The canonical path: `segments` percent-encoded where RFC 3986 requires it, joined by `/`, with the trailing slash
   * kept; `*` for `OPTIONS *`.
   */
  readonly path: string;
  /** Decoded query parameters in order of arrival, repeated ones as a list; `a[]` is a name. Null prototype. */
  readonly query: Readonly<Record<string, readonly string[]>>;
  /**
   * Header values (UTF-8 decoded, without whitespace around), by lower-case name, repeated ones as a list; without
   * `host`, which is `host` below. A value that is not UTF-8 counts as two values, so that no comparison is true for
   * it. Null prototype.
   */
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly scheme: string;
  /**
   * Lower case, without port and trailing dot. Empty if it cannot be determined because `conflicting_host` is switched
   * off.
   */
  readonly host: string;
  readonly protocol: string;
  /** The body, not examined yet: `readBody` checks it when a rule reads it. Absent if the proxy did not send it. */
  readonly body?: RawBody;
}

/** A request that two HTTP implementations could read differently, so it is answered with 400. */
export interface Refusal {
  /** The check that refused it. The configuration switches checks off by this name. */
  readonly check: RefusalCheck;
  /** What was found, for logs: printable ASCII without secrets, at most 200 characters. */
  readonly detail: string;
  /** It was found in the query, not in the path. */
  readonly in?: "query";
}

/**
 * Every refusal check, in the order in which they run (see `checks/index.ts`). If several find something, the first one
 * refuses.
 */
export const REFUSAL_CHECKS = [
  // the request line
  "malformed_method",
  "malformed_target",
  "too_many_parts",
  "fragment",
  "control_character",
  "unencoded_character",
  "malformed_percent_encoding",
  "invalid_utf8",
  "encoded_slash",
  "slash_like",
  "double_encoding",
  "dot_segment",
  "path_parameter",
  "file_stream",
  "encoded_delimiter",
  "empty_segment",
  "encoded_unreserved",
  "query_separator",
  "parameter_collision",
  // the headers
  "malformed_header",
  "underscore_header",
  "conflicting_host",
  "repeated_authorization",
  "conflicting_content_length",
  "hop_by_hop_header",
  "method_override",
  "path_override",
  // names that a rule reads
  "similar_parameter",
  "similar_header",
  // the body, if a rule reads it
  "ambiguous_content_type",
  "compressed_body",
  "body_cut_short",
  "too_many_json_values",
  "malformed_json",
  "duplicate_json_member",
  "similar_json_members",
  "inexact_number",
  "similar_member",
] as const;
export type RefusalCheck = (typeof REFUSAL_CHECKS)[number];

/**
 * Checks that cannot be switched off behind our Envoy: it answers such requests itself or (`hop_by_hop_header`,
 * `path_override`) removes what they look for, so switching them off would have no effect. Without `malformed_method`,
 * requests would pass that applications read differently, and over HTTP/2 only.
 */
const NEVER_ACCEPTED = [
  "malformed_method",
  "malformed_target",
  "fragment",
  "unencoded_character",
  "conflicting_content_length",
  "hop_by_hop_header",
  "path_override",
  "body_cut_short",
] as const satisfies readonly RefusalCheck[];

export type AcceptableCheck = Exclude<RefusalCheck, (typeof NEVER_ACCEPTED)[number]>;

/** Checks that can be switched off by name, for applications that need such requests. */
export const ACCEPTABLE_CHECKS: readonly AcceptableCheck[] = REFUSAL_CHECKS.filter(
  (check): check is AcceptableCheck => !(NEVER_ACCEPTED as readonly RefusalCheck[]).includes(check),
);

/** What can be switched off: checks, and the reading of `/a.json` as `/a`. */
export type Switch = RefusalCheck | "format_suffix";

/** What `gateway.accept_ambiguous` configures. */
export const SWITCHES = [...ACCEPTABLE_CHECKS, "format_suffix"] as const satisfies readonly Switch[];

/** Headers by which proxies describe a request as they received it. */
export const FORWARDED_HEADERS = [
  "x-forwarded-for",
  "x-forwarded-proto",
  "x-forwarded-host",
  "forwarded",
] as const;
export type ForwardedHeader = (typeof FORWARDED_HEADERS)[number];
/** Most proxies set these; `Forwarded` is usually left as the client sent it. */
export const USUAL_FORWARDED_HEADERS: readonly ForwardedHeader[] = FORWARDED_HEADERS.slice(0, 3);

/**
 * How the application reads what an accepted check is about, if the operator says so.
 *
 * - `kept`: it splits the path at `/` only, decodes each segment once, and changes nothing else; in the query, `;` is part
 *   of a value.
 * - `resolved`: it drops everything in a segment from a `;` on, then splits at `%2f`, then drops empty segments.
 */
export const STATED_READINGS = {
  kept: [
    "encoded_slash",
    "double_encoding",
    "path_parameter",
    "file_stream",
    "encoded_delimiter",
    "empty_segment",
    "encoded_unreserved",
    "query_separator",
  ],
  resolved: ["encoded_slash", "path_parameter", "empty_segment"],
} as const satisfies Readonly<Record<string, readonly AcceptableCheck[]>>;
export type StatedReading = keyof typeof STATED_READINGS;

/** Checks that are switched off for some paths. */
export interface AcceptedUnder {
  readonly checks: ReadonlySet<Switch>;
  /** Absent: the application may read the request in every way, and all of them must be below the path. */
  readonly reading?: StatedReading;
  /** Whether a path, given as decoded segments, is one of them. */
  readonly covers: (segments: readonly string[]) => boolean;
}

export interface ReadOptions {
  /** Checks that report instead of refusing. */
  readonly switchedOff?: ReadonlySet<Switch>;
  /** More such checks, for some paths. */
  readonly under?: readonly AcceptedUnder[];
}

/**
 * Another path that an application may use for a request that is not ambiguous. It matters if different rules match it.
 */
export interface Variant {
  readonly request: CanonicalRequest;
  /** The reading that it is a variant of. */
  readonly of: CanonicalRequest;
  /**
   * `format_suffix`: without a suffix such as `.json`. `as_sent`: with `@` and similar characters left encoded as they
   * were sent, although they need no encoding.
   */
  readonly by: "format_suffix" | "as_sent";
}

/** Outcome of `canonicalize`. */
export type Canonicalized =
  | {
      readonly ok: true;
      readonly request: CanonicalRequest;
      /** The other readings of the request, if checks are switched off. The rules must permit all of them. */
      readonly others: readonly CanonicalRequest[];
      /** Other paths that it may be read as, independent of the switches. Evaluated if different rules match them. */
      readonly variants: readonly Variant[];
      /** Switched-off checks that would have refused the request, in their order. */
      readonly accepted: readonly RefusalCheck[];
      /** The reading of the path that the operator states, if that is why `others` do not have further paths. */
      readonly stated?: StatedReading;
      /** All checks that are switched off for this request. */
      readonly switchedOff: ReadonlySet<Switch>;
    }
  | { readonly ok: false; readonly refusal: Refusal };

/** Every way in which a request may be read. */
export type Readings = Pick<
  Extract<Canonicalized, { ok: true }>,
  "request" | "others" | "variants" | "switchedOff"
>;

/** Outcome of `readBody`. */
export type BodyRead =
  | {
      readonly ok: true;
      /**
       * Its objects have no prototype. `undefined` if there is no body, if it is not JSON, or if the proxy did not send
       * it.
       */
      readonly json: JsonValue | undefined;
      /** Switched-off checks that would have refused the body, in their order. */
      readonly accepted: readonly RefusalCheck[];
    }
  | { readonly ok: false; readonly refusal: Refusal };
