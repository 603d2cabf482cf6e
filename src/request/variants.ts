import { encodePath } from "./encode-path.ts";
import { withoutFormat } from "./format-suffix.ts";
import { otherReadings } from "./other-readings.ts";
import type { Reading } from "./reading.ts";
import type { CanonicalRequest, ReadOptions, RefusalCheck, Variant } from "./types.ts";

const NONE: readonly Variant[] = Object.freeze([]);

/** How the path is read. */
interface PathReader {
  /** Undecoded segments to those that rules see. */
  readonly segmentsOf: (rawSegments: readonly string[]) => readonly string[];
}

/**
 * Other paths that an application may use for a request although nothing is wrong with it.
 *
 * @param others - its other readings, given what is `accepted` without a stated reading
 * @returns `undefined` if there are too many to evaluate
 */
export function variantsOf(
  reading: Reading,
  request: CanonicalRequest,
  others: readonly CanonicalRequest[],
  accepted: readonly RefusalCheck[],
  { segmentsOf, switchedOff }: PathReader & ReadOptions,
): readonly Variant[] | undefined {
  const asSent =
    reading.plain || !RESERVED.test(reading.rawPath)
      ? NONE
      : variantsAsSent(reading, [request, ...others], accepted, segmentsOf);
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
 * 3986, section 2.2), and `~`, which many clients encode.
 */
const RESERVED = /%(?:2[146-9a-c]|3[abd]|40|7e)/i;
const EACH_RESERVED = /%(?:2[146-9a-c]|3[abd]|40|7e)/gi;

type Readings = readonly [CanonicalRequest, ...CanonicalRequest[]];

/** Routers that match the undecoded path treat `/%40a` and `/@a` as different. */
function variantsAsSent(
  reading: Reading,
  readings: Readings,
  accepted: readonly RefusalCheck[],
  segmentsOf: PathReader["segmentsOf"],
): readonly Variant[] | undefined {
  const rawSegments = reading.rawSegments.map((raw) =>
    raw.replace(EACH_RESERVED, (triplet) => `%25${triplet.slice(1)}`),
  );
  const undecoded = segmentsOf(rawSegments);
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
