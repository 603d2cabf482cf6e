/** A request of Node.js, over HTTP/1 or HTTP/2, or of what imitates one: `inject` of Fastify, adapters of functions. */
export interface IncomingRequest {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly rawHeaders?: readonly string[];
}

/**
 * The values of the header `Authorization` as they arrived. `headers` has only the first of several, and which of them
 * somebody in front of the application believed, nobody knows.
 */
export function authorizationOf({ headers, rawHeaders = [] }: IncomingRequest): readonly string[] {
  const raw = rawHeaders.filter(
    (_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === "authorization",
  );
  if (raw.length > 0) return raw;
  const value = headers["authorization"] ?? [];
  return typeof value === "string" ? [value] : value;
}
