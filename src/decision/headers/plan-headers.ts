import { foldHeaderName, type RawRequest } from "../../request/index.ts";

/**
 * Request headers that are removed if the response will be masked. Some make the response unreadable: compressed,
 * partial, or a delta. The others would let the caller probe hidden data: ETags, dates and digests match the original,
 * not the masked response.
 */
export const REMOVED_FOR_PLANS: readonly string[] = [
  "accept-encoding",
  // trailers of the response are dropped, and transfer codings are not wanted
  "te",
  "range",
  // some servers, or storage services behind them, read these as `range`
  "request-range",
  "x-range",
  "x-ms-range",
  "a-im",
  "if",
  "if-match",
  "if-none-match",
  "if-modified-since",
  "if-unmodified-since",
  "if-range",
  "unless-modified-since",
  "want-digest",
  "want-content-digest",
  "want-repr-digest",
  "accept-signature",
  "sec-websocket-extensions",
];

const REMOVED = new Set(REMOVED_FOR_PLANS.map(foldHeaderName));

/** `if-tags`, `x-ms-if-tags`: any conditional header. */
const isCondition = (name: string) => /^if[^a-z0-9]|[^a-z0-9]if[^a-z0-9]/i.test(name);

const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS", "TRACE"]);
/** Conditional headers that do not make a change conditional: they concern partial responses or only safe methods. */
const NEVER_PRECONDITIONS = new Set(["ifrange", "ifmodifiedsince"]);

const isRemoved = (name: string) => REMOVED.has(foldHeaderName(name)) || isCondition(name);

function isPrecondition(name: string): boolean {
  const plain = foldHeaderName(name);
  if (NEVER_PRECONDITIONS.has(plain)) return false;
  return isCondition(name) || (REMOVED.has(plain) && plain.startsWith("if"));
}

/** @returns the headers above, and those in the request that could be read as one of them */
export function removedForPlan(headers: RawRequest["headers"]): readonly string[] {
  const others = headers.map(([name]) => name).filter(isRemoved);
  return others.length === 0 ? REMOVED_FOR_PLANS : [...new Set([...REMOVED_FOR_PLANS, ...others])];
}

/**
 * A precondition of a request that changes something must not be removed, or the change would be made without it. It
 * must not reach an application whose response is masked either, because its result depends on hidden data.
 *
 * @returns whether the request has a precondition
 */
export function hasPrecondition({ method, headers }: RawRequest): boolean {
  return !SAFE_METHODS.has(method) && headers.some(([name]) => isPrecondition(name));
}
