/** The canonical request: the one reading of what came over the wire, or a refusal. Pure. */
export { canonicalize } from "./canonicalize.ts";
export { encodePath } from "./encode-path.ts";
export { readBody, type ReadBodyOptions } from "./body/read-body.ts";
export { checkNames, type NamesChecked, type NamesRead } from "./similar-names.ts";
export { foldHeaderName, isLetterOrDigit } from "../names/index.ts";
export { prefersHtml } from "./prefers-html.ts";
export { originOf, readOrigin } from "./read-origin.ts";
export { readHost, sameHost } from "./read-host.ts";
export {
  ACCEPTABLE_CHECKS,
  FORWARDED_HEADERS,
  NO_BODY,
  REFUSAL_CHECKS,
  STATED_READINGS,
  SWITCHES,
  USUAL_FORWARDED_HEADERS,
} from "./types.ts";
export type {
  AcceptedUnder,
  BodyRead,
  Canonicalized,
  CanonicalRequest,
  ForwardedHeader,
  RawBody,
  RawRequest,
  Readings,
  ReadOptions,
  Refusal,
  RefusalCheck,
  StatedReading,
  Switch,
  Variant,
} from "./types.ts";
