import { deepFreeze, isObject, JsonError, parseJson, type JsonObject } from "../json/index.ts";

/** A JSON object that every parser reads the same way, or what is wrong with it. */
export type TokenJson =
  { readonly ok: true; readonly value: JsonObject } | { readonly ok: false; readonly detail: string };

/** More than any token needs, and far below the depth at which recursion fails. */
const MAX_DEPTH = 32;

/**
 * Parses the header or the payload of a token. Duplicate members (RFC 7519, section 4) are rejected. A number that is not
 * exact becomes NaN: it is present, no comparison with it is true, and it is not a date. The result is frozen, and its objects
 * have no prototype.
 */
export function parseTokenJson(text: string): TokenJson {
  try {
    const { value, duplicateMember } = parseJson(text, { depth: MAX_DEPTH, anyText: true });
    if (!isObject(value)) return { ok: false, detail: "not a JSON object" };
    if (duplicateMember) return { ok: false, detail: "a member is repeated" };
    return { ok: true, value: deepFreeze(value) };
  } catch (error) {
    const deep = error instanceof JsonError && error.reason === "depth";
    return { ok: false, detail: deep ? `nested more than ${MAX_DEPTH} deep` : "not JSON" };
  }
}
