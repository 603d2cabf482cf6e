import { decodePercent } from "./decode.ts";
import { encodePath } from "./encode-path.ts";
import { withoutFormat } from "./format-suffix.ts";
import { otherReadings } from "./other-readings.ts";
import type { Reading } from "./reading.ts";
import type { CanonicalRequest, ReadOptions, RefusalCheck, Variant } from "./types.ts";

const NONE: readonly Variant[] = Object.freeze([]);

/**
 * Other paths that an application may use for a request although nothing is wrong with it.
 *
 * @param others - its other readings, given what is `accepted`
 * @returns `undefined` if there are too many to evaluate
 */
export function variantsOf(
  reading: Reading,
  request: CanonicalRequest,
  others: readonly CanonicalRequest[],
  accepted: readonly RefusalCheck[],
  { switchedOff }: ReadOptions,
): readonly Variant[] | undefined {
  const asSent =
    reading.plain || !RESERVED.test(reading.rawPath)
      ? NONE
      : variantsAsSent(reading, [request, ...others], accepted);
  if (asSent === undefined || switchedOff?.has("format_suffix") === true) return asSent;
  const ofRequest = withoutFormats(request);
  if (asSent.length === 0 && others.length === 0) return ofRequest;
  const further = [...others, ...asSent.map((variant) => variant.request)];
  return [...asSent, ...ofRequest, ...further.flatMap(withoutFormats)];
}

function withoutFormats(of: CanonicalRequest): readonly Variant[] {
  const request = withoutFormat(of);
  return request === undefined ? NONE : [{ request, of, by: "format_suffix" }];
}

/**
 * Characters that may appear in a path unencoded, and that only some stacks treat as equal to their encoded form (RFC
 * 3986, section 2.2).
 */
const RESERVED = /%(?:2[146-9a-c]|3[abd]|40)/i;
const EACH_RESERVED = /%(?:2[146-9a-c]|3[abd]|40)/gi;

type Readings = readonly [CanonicalRequest, ...CanonicalRequest[]];

/** Routers that match the undecoded path treat `/%40a` and `/@a` as different. */
function variantsAsSent(
  reading: Reading,
  readings: Readings,
  accepted: readonly RefusalCheck[],
): readonly Variant[] | undefined {
  const rawSegments = reading.rawSegments.map((raw) =>
    raw.replace(EACH_RESERVED, (triplet) => `%25${triplet.slice(1)}`),
  );
  const undecoded = rawSegments.map((raw) => decodePercent(raw).text);
  const path = encodePath(undecoded, reading.trailingSlash);
  const sent = { ...readings[0], segments: undecoded, path };
  const others = accepted.length === 0 ? [] : otherReadings(sent, { ...reading, rawSegments }, accepted);
  return (
    others &&
    [sent, ...others]
      .filter(({ segments }) => segments.some((segment) => RESERVED.test(segment)))
      .map((request) => ({ request, of: decoded(request, readings), by: "as_sent" }))
  );
}

/** The reading of which this is the undecoded form. */
function decoded({ segments }: CanonicalRequest, readings: Readings): CanonicalRequest {
  const text = (of: readonly string[]) => JSON.stringify(of);
  const sought = text(segments.map((segment) => segment.replace(EACH_RESERVED, decodeURIComponent)));
  return readings.find((reading) => text(reading.segments) === sought) ?? readings[0];
}
