import { readHost, sameHost, type CanonicalRequest, type Readings } from "../../request/index.ts";

/**
 * A trusted proxy may forward a request with a Host of its own, and the client's in X-Forwarded-Host. Rules see the latter.
 * The application gets both, and may use either: so the rules must permit the request with both.
 *
 * @param host - X-Forwarded-Host of a trusted proxy
 */
export function readingsAt(sent: Readings, host: string | undefined): Readings {
  if (host === undefined) return sent;
  const forwarded = readHost(host);
  if (sameHost(forwarded, readHost(sent.request.host))) return sent;
  // a variant refers to one of the readings by object identity
  const changed = new Map<CanonicalRequest, CanonicalRequest>();
  const as = (one: CanonicalRequest): CanonicalRequest => {
    const known = changed.get(one) ?? { ...one, host: forwarded.name };
    changed.set(one, known);
    return known;
  };
  return {
    ...sent,
    request: as(sent.request),
    others: [...sent.others.map(as), sent.request, ...sent.others],
    variants: [
      ...sent.variants.map((variant) => ({ ...variant, request: as(variant.request), of: as(variant.of) })),
      ...sent.variants,
    ],
  };
}
