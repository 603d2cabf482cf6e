import { CHECKS } from "./checks/index.ts";
import { encodePath } from "./encode-path.ts";
import { otherReadings, toQuery } from "./other-readings.ts";
import { read, type Reading } from "./reading.ts";
import { variantsOf } from "./variants.ts";
import type { Canonicalized, CanonicalRequest, RawRequest, ReadOptions, RefusalCheck } from "./types.ts";

const NOTHING: readonly RefusalCheck[] = Object.freeze([]);
const NO_OTHERS: readonly CanonicalRequest[] = Object.freeze([]);
const MAX_DETAIL = 200;

/**
 * Turns a raw request into the one reading that rules see, or refuses it as ambiguous.
 *
 * The request is first read as leniently as possible; then the checks of `checks/index.ts` examine that reading in
 * order. The first enabled check that finds something refuses the request. If a disabled check finds something, the
 * result also has all `others`: the other requests that an application may read it as. `variants` are other paths that
 * an application may use although nothing is wrong with the request. Never throws.
 */
export function canonicalize(raw: RawRequest, options: ReadOptions = {}): Canonicalized {
  const { switchedOff } = options;
  const reading = read(raw);
  let accepted: RefusalCheck[] | undefined;
  for (const { check, on, find } of CHECKS) {
    if (on === "unusual targets" && reading.plain) continue;
    const detail = find(reading);
    if (detail === undefined) continue;
    // a target without a path has no reading
    const final = check === "malformed_target" && !reading.readable;
    if (final || switchedOff?.has(check) !== true) {
      return { ok: false, refusal: { check, detail: detail.slice(0, MAX_DETAIL) } };
    }
    accepted ??= [];
    accepted.push(check);
  }
  const found = accepted ?? NOTHING;
  const strict = toRequest(reading);
  const request = found.includes("conflicting_host") ? { ...strict, host: "" } : strict;
  const others = accepted === undefined ? NO_OTHERS : otherReadings(request, reading, found);
  const variants = others && variantsOf(reading, request, others, found, options);
  if (others !== undefined && variants !== undefined)
    return { ok: true, request, others, variants, accepted: found };
  const [check = "malformed_target"] = found;
  return { ok: false, refusal: { check, detail: "the request has too many possible readings" } };
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
