const BASE_MS = 250;
const MAX_MS = 8_000;

/** Statuses of which the same request may be answered otherwise a little later. */
export function isTransient(status: number, code: string): boolean {
  return status === 408 || status === 429 || status >= 500 || code === "IDEMPOTENCY_CONFLICT";
}

/**
 * How long to wait before the next attempt: exponential, with full jitter, so that clients that failed together do not
 * come back together; never less than the server asks for.
 *
 * @param attempt - of the attempt that failed, from 0
 * @param random - from 0 to 1
 */
export function delayMs(attempt: number, retryAfterMs: number | undefined, random = Math.random()): number {
  const backoff = random * Math.min(MAX_MS, BASE_MS * 2 ** attempt);
  return Math.max(backoff, retryAfterMs ?? 0);
}

/** `Retry-After` (RFC 9110, section 10.2.3): seconds or a date. */
export function retryAfterMs(header: string | null, now: number): number | undefined {
  if (header === null) return undefined;
  if (/^\d+$/.test(header)) return Number(header) * 1000;
  const date = dateOf(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/**
 * An HTTP date (RFC 9110, section 5.6.7), of which the third form names no time zone. `Date.parse` alone takes much else,
 * such as `-5`.
 */
function dateOf(text: string): number {
  if (/^[A-Z][a-z]{2,8}, .+ GMT$/.test(text)) return Date.parse(text);
  return /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d [\d:]{8} \d{4}$/.test(text) ? Date.parse(`${text} GMT`) : NaN;
}
