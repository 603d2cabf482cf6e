import type { Check } from "./check.ts";
import { conflictingContentLength } from "./content-length.ts";
import { hopByHopHeader, malformedHeader, repeatedAuthorization, underscoreHeader } from "./headers.ts";
import { conflictingHost } from "./host.ts";
import { malformedMethod } from "./method.ts";
import { methodOverride, pathOverride } from "./overrides.ts";
import { parameterCollision, querySeparator } from "./query.ts";
import {
  dotSegment,
  doubleEncoding,
  emptySegment,
  encodedDelimiter,
  encodedUnreserved,
  encodedSlash,
  fileStream,
  pathParameter,
  slashLike,
} from "./segments.ts";
import {
  controlCharacter,
  fragment,
  invalidUtf8,
  malformedPercentEncoding,
  malformedTarget,
  tooManyParts,
  unencodedCharacter,
} from "./target.ts";

/**
 * All checks on a request without its body, in the order in which they run. The published test vectors depend on the
 * order: checks on the whole request come before checks on a part.
 */
export const CHECKS: readonly Check[] = [
  { check: "malformed_method", on: "all requests", find: malformedMethod },
  { check: "malformed_target", on: "all requests", find: malformedTarget },
  { check: "too_many_parts", on: "all requests", find: tooManyParts },
  { check: "fragment", on: "unusual targets", find: fragment },
  { check: "control_character", on: "unusual targets", find: controlCharacter },
  { check: "unencoded_character", on: "unusual targets", find: unencodedCharacter },
  { check: "malformed_percent_encoding", on: "unusual targets", find: malformedPercentEncoding },
  { check: "invalid_utf8", on: "unusual targets", find: invalidUtf8 },
  { check: "encoded_slash", on: "unusual targets", find: encodedSlash },
  { check: "slash_like", on: "unusual targets", find: slashLike },
  { check: "double_encoding", on: "unusual targets", find: doubleEncoding },
  { check: "dot_segment", on: "unusual targets", find: dotSegment },
  { check: "path_parameter", on: "unusual targets", find: pathParameter },
  { check: "file_stream", on: "unusual targets", find: fileStream },
  { check: "encoded_delimiter", on: "unusual targets", find: encodedDelimiter },
  { check: "empty_segment", on: "unusual targets", find: emptySegment },
  { check: "encoded_unreserved", on: "unusual targets", find: encodedUnreserved },
  { check: "query_separator", on: "unusual targets", find: querySeparator },
  { check: "parameter_collision", on: "all requests", find: parameterCollision },
  { check: "malformed_header", on: "all requests", find: malformedHeader },
  { check: "underscore_header", on: "all requests", find: underscoreHeader },
  { check: "conflicting_host", on: "all requests", find: conflictingHost },
  { check: "repeated_authorization", on: "all requests", find: repeatedAuthorization },
  { check: "conflicting_content_length", on: "all requests", find: conflictingContentLength },
  { check: "hop_by_hop_header", on: "all requests", find: hopByHopHeader },
  { check: "method_override", on: "all requests", find: methodOverride },
  { check: "path_override", on: "all requests", find: pathOverride },
];
