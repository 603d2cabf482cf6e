import { foldHeaderName, type RawRequest } from "../../request/index.ts";

/**
 * Request headers that do not reach the application where its answer is read on the way back. Some make the answer unreadable: it
 * would be compressed, or a part, or a difference. The others let the caller guess at what a rule hides: whether an ETag
 * or a date fits is known only for the original, and so is its digest.
 */
export const REMOVED_FOR_PLANS: readonly string[] = [
  "accept-encoding",
  // the answer's trailers are dropped, and no transfer coding is wanted
  "te",
  "range",
  // read as `range` by some servers, or by a storage behind them
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

/** `if-tags`, `x-ms-if-tags`: a condition, whatever it is about. */
const isCondition = (name: string) => /^if[^a-z0-9]|[^a-z0-9]if[^a-z0-9]/i.test(name);

const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS", "TRACE"]);
/** Of others these decide nothing: whether a part is sent, and what only safe methods ask. */
const NEVER_PRECONDITIONS = new Set(["ifrange", "ifmodifiedsince"]);

const isRemoved = (name: string) => REMOVED.has(foldHeaderName(name)) || isCondition(name);

function isPrecondition(name: string): boolean {
  const plain = foldHeaderName(name);
  if (NEVER_PRECONDITIONS.has(plain)) return false;
  return isCondition(name) || (REMOVED.has(plain) && plain.startsWith("if"));
}

/** @returns the headers above, and those of the request that could be read as one of them. */
export function removedForPlan(headers: RawRequest["headers"]): readonly string[] {
  const others = headers.map(([name]) => name).filter(isRemoved);
  return others.length === 0 ? REMOVED_FOR_PLANS : [...new Set([...REMOVED_FOR_PLANS, ...others])];
}

/**
 * A precondition of a request that changes something is not removed, or the change would be made without it. Nor may it
 * reach an application whose answer has something hidden: whether it holds depends on what is hidden.
 *
 * @returns whether the request has one
 */
export function hasPrecondition({ method, headers }: RawRequest): boolean {
  return !SAFE_METHODS.has(method) && headers.some(([name]) => isPrecondition(name));
}
