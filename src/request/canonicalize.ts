import { CHECKS } from "./checks/index.ts";
import { encodePath } from "./encode-path.ts";
import { withoutFormat } from "./format-suffix.ts";
import { otherReadings, toQuery } from "./other-readings.ts";
import { read, type Reading } from "./reading.ts";
import type {
  Canonicalized,
  CanonicalRequest,
  RawRequest,
  ReadOptions,
  RefusalCheck,
  Variant,
} from "./types.ts";

const NOTHING: readonly RefusalCheck[] = Object.freeze([]);
const NO_OTHERS: readonly CanonicalRequest[] = Object.freeze([]);
const NO_VARIANTS: readonly Variant[] = Object.freeze([]);
const MAX_DETAIL = 200;

/**
 * Turns a request as it came into the one reading that rules see, or says why there are two.
 *
 * The request is read as leniently as can be, then the checks of `checks/index.ts` look at that reading in their order.
 * The first one that is not switched off and finds something refuses. Where one that is switched off finds something, the
 * request comes with all `others` that an application may take it for. `variants` are paths that it may be taken for
 * although nothing is wrong with it. Never throws.
 */
export function canonicalize(raw: RawRequest, { switchedOff }: ReadOptions = {}): Canonicalized {
  const reading = read(raw);
  let accepted: RefusalCheck[] | undefined;
  for (const { check, on, find } of CHECKS) {
    if (on === "unusual targets" && reading.plain) continue;
    const detail = find(reading);
    if (detail === undefined) continue;
    // a target that names no path has no reading to go on with
    const final = check === "malformed_target" && !reading.readable;
    if (final || switchedOff?.has(check) !== true) {
      return { ok: false, refusal: { check, detail: detail.slice(0, MAX_DETAIL) } };
    }
    accepted ??= [];
    accepted.push(check);
  }
  const request = toRequest(reading);
  const formats = switchedOff?.has("format_suffix") !== true;
  if (accepted === undefined) {
    const variants = formats ? variantsOf(request) : NO_VARIANTS;
    return { ok: true, request, others: NO_OTHERS, variants, accepted: NOTHING };
  }
  const lenient = accepted.includes("conflicting_host") ? { ...request, host: "" } : request;
  const others = otherReadings(lenient, reading, accepted);
  if (others !== undefined) {
    const variants = formats ? [lenient, ...others].flatMap(variantsOf) : NO_VARIANTS;
    return { ok: true, request: lenient, others, variants, accepted };
  }
  const [check = "malformed_target"] = accepted;
  return { ok: false, refusal: { check, detail: "the request can be read in too many ways" } };
}

function variantsOf(of: CanonicalRequest): readonly Variant[] {
  const request = withoutFormat(of);
  return request === undefined ? NO_VARIANTS : [{ request, of, by: "format_suffix" }];
}

function toRequest(reading: Reading): CanonicalRequest {
  const { raw, plain, rawPath, headers, host, trailingSlash } = reading;
  const { segments, parameters } = reading.decoded();
  const request = {
    method: raw.method,
    segments,
    path: plain || rawPath === "*" ? rawPath : encodePath(segments, trailingSlash),
    query: toQuery(parameters),
    headers: headers.byName,
    scheme: raw.scheme.toLowerCase(),
    host: host.name,
    protocol: raw.protocol,
  };
  return raw.body === undefined ? request : { ...request, body: raw.body };
}
