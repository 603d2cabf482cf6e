import { JsonError, MAX_VALUES, parseJson, type JsonValue } from "../json/index.ts";

const LIMITS = { depth: 64, values: MAX_VALUES };

/** A JSON body, or what is wrong with it. */
export type ReadJson =
  { readonly ok: true; readonly value: JsonValue } | { readonly ok: false; readonly error: string };

/** Reads a body strictly: a member that stands twice in an object could be read in two ways. */
export function readJson(body: Uint8Array): ReadJson {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return { ok: false, error: "the body is not valid UTF-8" };
  }
  try {
    const { value, duplicateMember } = parseJson(text, LIMITS);
    if (duplicateMember) return { ok: false, error: "an object of the body has a duplicate member" };
    return { ok: true, value };
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return { ok: false, error: `the body is not valid JSON: ${error.message}` };
  }
}
