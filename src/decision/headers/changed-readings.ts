import type { CanonicalRequest, Readings } from "../../request/types.ts";

/**
 * @param changes - new values by header name; `undefined`: without the header
 * @returns every reading of a request with other headers
 */
export function withHeaders(
  { request, others, variants, ...rest }: Readings,
  changes: Readonly<Record<string, readonly string[] | undefined>>,
): Readings {
  const headers = Object.create(null) as Record<string, readonly string[]>;
  for (const [name, values] of Object.entries({ ...request.headers, ...changes }))
    if (values !== undefined) headers[name] = values;
  // a variant refers to one of the readings by object identity
  const changed = new Map<CanonicalRequest, CanonicalRequest>();
  const as = (one: CanonicalRequest): CanonicalRequest => {
    const known = changed.get(one) ?? { ...one, headers };
    changed.set(one, known);
    return known;
  };
  return {
    ...rest,
    request: as(request),
    others: others.map(as),
    variants: variants.map((variant) => ({ ...variant, request: as(variant.request), of: as(variant.of) })),
  };
}
