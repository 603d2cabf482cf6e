import { JsonError, MAX_VALUES, parseJson, type ParsedJson } from "../json/index.ts";
import { malformed, overLimit, type InputValue } from "./types.ts";

/** Variables that are documents themselves (rich text) are nested deeply. */
const MAX_DEPTH = 200;

/**
 * Reads unambiguous JSON. An inexact number is NaN: the value exists, so no default replaces it, but it is unknown to
 * every condition.
 *
 * @param values - the maximum number of values
 * @throws GraphqlRefusal
 */
export function readJson(text: string, values = MAX_VALUES): InputValue {
  const { value, duplicateMember } = parseStrictly(text, values);
  if (duplicateMember) malformed("a JSON object has a duplicate member");
  return value;
}

function parseStrictly(text: string, values: number): ParsedJson {
  try {
    return parseJson(text, { depth: MAX_DEPTH, values });
  } catch (error) {
    if (!(error instanceof JsonError)) return malformed("invalid JSON: the parser failed");
    if (error.reason === "values") return overLimit(`the JSON has ${error.message}`);
    return malformed(`invalid JSON: ${error.message}`);
  }
}
