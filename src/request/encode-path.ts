/** RFC 3986, section 3.3: everything that is not a pchar. */
const NOT_PCHAR = /[^A-Za-z0-9\-._~!$&'()*+,;=:@]+/g;

/** Joins decoded segments to a path, each percent-encoded where it must be and nowhere else. */
export function encodePath(segments: readonly string[], trailingSlash: boolean): string {
  const path = `/${segments.map(encodeSegment).join("/")}`;
  return trailingSlash && segments.length > 0 ? `${path}/` : path;
}

function encodeSegment(segment: string): string {
  return segment.replace(NOT_PCHAR, encodeURIComponent);
}
