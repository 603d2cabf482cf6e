import { parseJson } from "../../json/index.ts";

/** Deeper nesting than any provider's. */
const MAX_DEPTH = 32;
/** Whatever may be read as another number has as many digits, or an exponent. */
const SUSPICIOUS = /[\d.]{15}|\de/i;

/**
 * Takes what is no exact number out of what a provider says: the client library reads numbers as `JSON.parse` does, and a claim
 * that was another account's number would be compared as if it were.
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
