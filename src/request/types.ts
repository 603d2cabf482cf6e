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
  /** Absent: the door did not hand it over (which is not the same as empty). */
  readonly body?: RawBody;
}

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
  /** The canonical path: `segments` percent-encoded where RFC 3986 wants it, joined by `/`, trailing slash kept. */
  readonly path: string;
  /** Decoded query parameters in order of arrival, repeated ones as a list. Null prototype. */
  readonly query: Readonly<Record<string, readonly string[]>>;
  /** Header values (UTF-8 decoded), by lower-case name, repeated ones as a list. Null prototype. */
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly scheme: string;
  /** Lower case, without port and final dot. */
  readonly host: string;
  readonly protocol: string;
  /** The body, not looked at yet: `readBody` judges it when a rule reads it. */
  readonly body?: RawBody;
}

/** A request that two HTTP implementations could read in two ways, and so is answered 400. */
export interface Refusal {
  /** The check that refused it; checks are switched off by this name. */
  readonly check: RefusalCheck;
  /** What was found, for logs: printable ASCII, no secret, at most 200 characters. */
  readonly detail: string;
}

export const REFUSAL_CHECKS = [
  "malformed_target",
  "malformed_percent_encoding",
  "encoded_slash",
  "encoded_delimiter",
  "dot_segment",
  "empty_segment",
  "control_character",
  "invalid_utf8",
  "path_parameter",
  "fragment",
  "double_encoding",
  "method_override",
  "malformed_method",
  "malformed_header",
  "repeated_authorization",
  "conflicting_host",
  "conflicting_content_length",
  "too_many_parts",
  "duplicate_json_member",
  "malformed_json",
  "body_cut_short",
  "compressed_body",
] as const;
export type RefusalCheck = (typeof REFUSAL_CHECKS)[number];
