import { isList, isObject } from "../json/index.ts";
import { UNAVAILABLE } from "../policy/evaluation.ts";
import { memberOf } from "./input.ts";
import { decodeUtf8 } from "../text/index.ts";
import { readParts, type MultipartPart } from "./multipart-parts.ts";
import { readJson } from "./read-json.ts";
import { malformed, type InputValue } from "./types.ts";

/**
 * Reads a request of the GraphQL multipart request specification: `operations`, then `map`, then the files that `map`
 * names, each once. UNAVAILABLE takes the place of a file.
 *
 * @returns the content of `operations`
 * @throws GraphqlRefusal
 */
export function readMultipart(contentType: string, body: Uint8Array): InputValue {
  const [first, second, ...files] = readParts(contentType, body);
  const operations = readJsonPart(first, "operations");
  const map = readJsonPart(second, "map");
  if (!isObject(map)) return malformed("`map` is not an object");
  const names = Object.keys(map);
  checkFiles(files, names);
  for (const name of names) {
    const paths = map[name];
    if (!isList(paths)) return malformed("every value in `map` must be a list of paths");
    for (const path of paths) placeFile(operations, path);
  }
  return operations;
}

function readJsonPart(part: MultipartPart | undefined, name: string): InputValue {
  if (
    part?.name !== name ||
    part.filename !== undefined ||
    !/^(?:application\/json(?:; ?charset=utf-8)?)?$/i.test(part.type)
  ) {
    return malformed("the first two parts must be `operations` and `map`");
  }
  const { text, valid } = decodeUtf8(part.content);
  return valid ? readJson(text) : malformed("a part is not UTF-8");
}

function checkFiles(files: readonly MultipartPart[], names: readonly string[]): void {
  const given = new Set(files.map(({ name }) => name));
  // a form parser that takes an empty file name for none would read a field, and one may be read for another in
  // any letter case
  const named = files.every(({ name, filename }) => filename !== "" && !/^(?:operations|map)$/i.test(name));
  const listed = files.length === names.length && names.every((name) => given.has(name));
  if (!listed || !named || files.some(({ filename }) => filename === undefined))
    malformed("the files do not match `map`");
}

/**
 * `variables.files.0`, or `1.variables.file` in a batch: names and indexes that every library splits in the same way.
 */
const PATH = /^(?:(?:0|[1-9]\d?)\.)?variables(?:\.[_0-9A-Za-z]+)+$/;

/** Replaces the null at `path` with UNAVAILABLE. */
function placeFile(operations: InputValue, path: InputValue): void {
  if (typeof path !== "string" || !PATH.test(path)) malformed("a path in `map` must point into `variables`");
  const keys = path.split(".");
  const last = keys.pop() ?? "";
  const around = keys.reduce(step, operations);
  if (step(around, last) !== null) malformed("a path in `map` must point to a null");
  (around as Record<string, InputValue>)[last] = UNAVAILABLE;
}

function step(value: InputValue | undefined, key: string): InputValue | undefined {
  if (!isList(value)) return memberOf(value, key);
  return /^(?:0|[1-9]\d*)$/.test(key) ? value[Number(key)] : undefined;
}
