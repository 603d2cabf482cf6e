import type { JsonValue } from "../json/index.ts";

/** A request as it came over the wire, before anybody has interpreted it. Made by a door, read only by `canonicalize`. */
export interface RawRequest {
  readonly method: string;
  /** The request target as received, query included; latin1: one character a byte. */
  readonly target: string;
  readonly scheme: string;
  /** Host or :authority; latin1. */
  readonly host: string;
  /** `HTTP/1.1`, `HTTP/2`, ... */
  readonly protocol: string;
  /** In order of arrival, names in lower case, repeated headers apart; values latin1. Without pseudo-headers. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Absent: it was not handed over, and nobody can say what it holds. Empty bytes: there is none. */
  readonly body?: RawBody;
}

/** What a request without a body has. */
export const NO_BODY: RawBody = Object.freeze({ bytes: new Uint8Array(), complete: true });

export interface RawBody {
  readonly bytes: Uint8Array;
  /** False where the door saw only the beginning. */
  readonly complete: boolean;
}

/** The one reading of a request that rules see. */
export interface CanonicalRequest {
  readonly method: string;
  /** Decoded path segments without the empty one of a trailing slash: `/` is `[]`, `/a/b/` is `["a", "b"]`. */
  readonly segments: readonly string[];
  /**
   * The canonical path: `segments` percent-encoded where RFC 3986 wants it, joined by `/`, trailing slash kept; `*` for
   * `OPTIONS *`.
   */
  readonly path: string;
  /** Decoded query parameters in order of arrival, repeated ones as a list; `a[]` is a name. Null prototype. */
  readonly query: Readonly<Record<string, readonly string[]>>;
  /**
   * Header values (UTF-8 decoded, without whitespace around), by lower-case name, repeated ones as a list; without
   * `host`, which is `host` below. One that is not UTF-8 counts as two, which no comparison is true of. Null prototype.
   */
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly scheme: string;
  /** Lower case, without port and final dot. Empty where nobody can say: `conflicting_host` is switched off. */
  readonly host: string;
  readonly protocol: string;
  /** The body, not looked at yet: `readBody` checks it when a rule reads it. Absent: it was not handed over. */
  readonly body?: RawBody;
}

/** A request that two HTTP implementations could read in two ways, and so is answered 400. */
export interface Refusal {
  /** The check that refused it; checks are switched off by this name. */
  readonly check: RefusalCheck;
  /** What was found, for logs: printable ASCII, no secret, at most 200 characters. */
  readonly detail: string;
}

/** Every refusal check, in the order in which they are made (see `checks/index.ts`): of several, the first one refuses. */
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
  // the names that a rule reads
  "similar_parameter",
  "similar_header",
  // the body, when a rule reads it
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
 * Checks that nothing switches off behind our Envoy: it answers such requests before anybody is asked, or (`hop_by_hop_header`,
 * `path_override`) removes what they look for, so a switch would promise what never happens. `malformed_method` would let
 * pass what no application reads alike, and over HTTP/2 only.
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

/** Checks that can be switched off for applications which need such requests, by these names. */
export const ACCEPTABLE_CHECKS: readonly AcceptableCheck[] = REFUSAL_CHECKS.filter(
  (check): check is AcceptableCheck => !(NEVER_ACCEPTED as readonly RefusalCheck[]).includes(check),
);

/** What can be switched off: checks, and that `/a.json` is read as `/a`, too. */
export type Switch = RefusalCheck | "format_suffix";

/** All that `gateway.accept_ambiguous` hands over to the reading of requests. */
export const SWITCHES = [...ACCEPTABLE_CHECKS, "format_suffix"] as const satisfies readonly Switch[];

export interface ReadOptions {
  /** Checks that report instead of refusing. */
  readonly switchedOff?: ReadonlySet<Switch>;
}

/** A path that an application may take a request for which nothing is wrong with. It matters where other rules are for it. */
export interface Variant {
  readonly request: CanonicalRequest;
  /** The reading that it is another one of. */
  readonly of: CanonicalRequest;
  /**
   * `format_suffix`: without `.json` or the like at its end. `as_sent`: with `@` and others undecoded where they are sent encoded,
   * which they need not be.
   */
  readonly by: "format_suffix" | "as_sent";
}

/** Outcome of `canonicalize`. */
export type Canonicalized =
  | {
      readonly ok: true;
      readonly request: CanonicalRequest;
      /** What else an application may take the request for, where checks are switched off: rules must permit it all. */
      readonly others: readonly CanonicalRequest[];
      /** What it may be taken for as well, whatever is switched off: asked about where other rules are for it. */
      readonly variants: readonly Variant[];
      /** Switched-off checks that would have refused the request, in their order. */
      readonly accepted: readonly RefusalCheck[];
    }
  | { readonly ok: false; readonly refusal: Refusal };

/** Outcome of `readBody`. */
export type BodyRead =
  | {
      readonly ok: true;
      /**
       * Its objects have no prototype. `undefined`: there is no body, or none that is read as JSON, or it was not handed over.
       */
      readonly json: JsonValue | undefined;
      /** Switched-off checks that would have refused the body, in their order. */
      readonly accepted: readonly RefusalCheck[];
    }
  | { readonly ok: false; readonly refusal: Refusal };
