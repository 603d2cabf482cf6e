import { JsonError, MAX_VALUES, parseJson, type ParsedJson } from "../json/index.ts";
import { malformed, overLimit, type InputValue } from "./types.ts";

/** Variables that are documents themselves (rich text) are nested deeply. */
const MAX_DEPTH = 200;

/**
 * Reads JSON that has one meaning. A number that is not exact is NaN: it is there, so that no default stands in its place,
 * and no condition knows what it is.
 *
 * @param values - how many there may be
 * @throws GraphqlRefusal
 */
export function readJson(text: string, values = MAX_VALUES): InputValue {
  const { value, duplicateMember } = parseStrictly(text, values);
  if (duplicateMember) malformed("a JSON object names a member twice");
  return value;
}

function parseStrictly(text: string, values: number): ParsedJson {
  try {
    return parseJson(text, { depth: MAX_DEPTH, values });
  } catch (error) {
    if (!(error instanceof JsonError)) return malformed("this is not JSON: the parser failed");
    if (error.reason === "values") return overLimit(`the JSON has ${error.message}`);
    return malformed(`this is not JSON: ${error.message}`);
  }
}
