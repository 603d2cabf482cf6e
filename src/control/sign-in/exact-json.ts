import { parseJson } from "../../json/index.ts";

/** Deeper nesting than any provider's. */
const MAX_DEPTH = 32;
/** A number that may be inexact has at least 15 characters, or an exponent. */
const SUSPICIOUS = /[\d.]{15}|\de/i;

/**
 * Removes numbers that are not exact from what a provider says: the client library rounds them, as `JSON.parse` does, and a rounded
 * claim may be another account's number.
 *
 * @param text - JSON
 * @returns JSON with `{}` for each number that is not exact, which no claim takes; the same text where there is none
 * @throws JsonError for what may have such a number and is not strictly JSON
 */
export function withoutInexactNumbers(text: string): string {
  if (!SUSPICIOUS.test(text)) return text;
  const { value, inexactNumber } = parseJson(text, { depth: MAX_DEPTH, anyText: true });
  if (!inexactNumber) return text;
  return JSON.stringify(value, (_name, item: unknown) => (Number.isNaN(item) ? {} : item));
}

/** The same of a token's payload, whose signature is verified. */
export function exactClaims(token: string): Readonly<Record<string, unknown>> {
  const payload = Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8");
  return JSON.parse(withoutInexactNumbers(payload)) as Readonly<Record<string, unknown>>;
}
