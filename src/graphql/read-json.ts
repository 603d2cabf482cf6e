import {
  JsonError,
  MAX_VALUES,
  parseJson,
  TooManyValues,
  type JsonLimits,
  type ParsedJson,
} from "../request/body/parse-json.ts";
import { malformed, overLimit, type InputValue } from "./types.ts";

/** Variables that are documents themselves (rich text) are nested deeply. */
const MAX_DEPTH = 200;

/**
 * Reads JSON that has one meaning. A number that no double holds is NaN: it is there, and no condition knows what it is.
 *
 * @param values - how many there may be
 * @throws GraphqlRefusal
 */
export function readJson(text: string, values = MAX_VALUES): InputValue {
  // what is not exact may not be left out: then a default would stand in its place
  const { value, duplicateMember } = parseStrictly(text, { depth: MAX_DEPTH, values, inexact: NaN });
  if (duplicateMember) malformed("a JSON object names a member twice");
  return value as InputValue;
}

function parseStrictly(text: string, limits: JsonLimits): ParsedJson {
  try {
    return parseJson(text, limits);
  } catch (error) {
    if (error instanceof TooManyValues) return overLimit(`the JSON has ${error.message}`);
    return malformed(`this is not JSON: ${error instanceof JsonError ? error.message : "the parser failed"}`);
  }
}
