import { JsonError, parseJson, TooManyValues } from "../request/body/parse-json.ts";
import { exactNumber } from "./literals.ts";
import { malformed, overLimit, type InputValue } from "./types.ts";

/** Variables that are documents themselves (rich text) are nested deeply. */
const MAX_DEPTH = 200;

/**
 * Reads JSON that has one meaning. A number that no double holds is NaN: it is there, and no condition knows what it is.
 *
 * @throws GraphqlRefusal
 */
export function readJson(text: string): InputValue {
  const { value, duplicateMember, inexactNumber } = parseStrictly(text);
  if (duplicateMember) malformed("a JSON object names a member twice");
  // the strict reader leaves out what is not exact, and then a default would stand in its place
  return inexactNumber ? (JSON.parse(text, inexactAsNaN) as InputValue) : (value as InputValue);
}

function parseStrictly(text: string) {
  try {
    return parseJson(text, MAX_DEPTH);
  } catch (error) {
    if (error instanceof TooManyValues) return overLimit(`the JSON has ${error.message}`);
    return malformed(`this is not JSON: ${error instanceof JsonError ? error.message : "the parser failed"}`);
  }
}

function inexactAsNaN(_name: string, value: unknown, context?: { readonly source?: string }): unknown {
  return typeof value === "number" ? exactNumber(context?.source ?? "") : value;
}
