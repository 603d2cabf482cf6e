import { acceptanceOf, isAcceptable, type Acceptance } from "./acceptance.ts";
import { CHECKS } from "./checks/index.ts";
import { encodePath } from "./encode-path.ts";
import { otherReadings, toQuery } from "./other-readings.ts";
import { read, type Reading } from "./reading.ts";
import { variantsOf } from "./variants.ts";
import type { Canonicalized, CanonicalRequest, RawRequest, ReadOptions, Refusal } from "./types.ts";

const NOTHING: readonly Refusal[] = Object.freeze([]);
const NO_OTHERS: readonly CanonicalRequest[] = Object.freeze([]);
const MAX_DETAIL = 200;

/**
 * Turns a raw request into the one reading that rules see, or refuses it as ambiguous.
 *
 * The request is first read as leniently as possible; then the checks of `checks/index.ts` examine that reading in
 * order. The first one that finds something and is not switched off refuses the request. If one that is switched off, here
 * or for every path, finds something, the result also has all `others`: the other requests that an application may read it as. `variants` are other paths that
 * an application may use although nothing is wrong with the request. Never throws.
 */
export function canonicalize(raw: RawRequest, options: ReadOptions = {}): Canonicalized {
  const reading = read(raw);
  const { refusal, findings } = examine(reading, options);
  if (refusal !== undefined) return { ok: false, refusal };
  const found = findings.map(({ check }) => check);
  const acceptance = acceptanceOf(reading, found, options);
  const { switchedOff, settled, stated } = acceptance;
  const elsewhere = findings.find(({ check }) => !switchedOff.has(check));
  if (elsewhere !== undefined) return { ok: false, refusal: elsewhere };

  const strict = toRequest(reading, acceptance);
  const request = found.includes("conflicting_host") ? { ...strict, host: "" } : strict;
  const open = settled.size === 0 ? found : found.filter((check) => !settled.has(check));
  const others = open.length === 0 ? NO_OTHERS : otherReadings(request, reading, open);
  const variants = others && variantsOf(reading, request, others, open, acceptance);
  if (others !== undefined && variants !== undefined) {
    const known = { ok: true, request, others, variants, accepted: found, switchedOff } as const;
    return stated === undefined ? known : { ...known, stated };
  }
  const [check = "malformed_target"] = found;
  return { ok: false, refusal: { check, detail: "the request has too many possible readings" } };
}

/** What the checks find, in their order; the refusal, if no setting accepts it for any path. */
function examine(
  reading: Reading,
  options: ReadOptions,
): { readonly findings: readonly Refusal[]; readonly refusal?: Refusal } {
  let findings: Refusal[] | undefined;
  for (const { check, on, find } of CHECKS) {
    if (on === "unusual targets" && reading.plain) continue;
    const finding = find(reading);
    if (finding === undefined) continue;
    const found =
      typeof finding === "string"
        ? { check, detail: finding.slice(0, MAX_DETAIL) }
        : { ...finding, check, detail: finding.detail.slice(0, MAX_DETAIL) };
    // a target without a path has no reading
    const final = check === "malformed_target" && !reading.readable;
    if (final || !isAcceptable(options, check)) return { findings: NOTHING, refusal: found };
    findings ??= [];
    findings.push(found);
  }
  return { findings: findings ?? NOTHING };
}

function toRequest(reading: Reading, { stated, segmentsOf }: Acceptance): CanonicalRequest {
  const { raw, plain, rawPath, headers, host, trailingSlash } = reading;
  const { segments: asSent, parameters } = reading.decoded();
  const segments = stated === undefined ? asSent : segmentsOf(reading.rawSegments);
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
