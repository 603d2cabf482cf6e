import { isList, isObject } from "../json/index.ts";

/** A part of Envoy's configuration as JSON, with Envoy's own field names. */
export type Json = Readonly<Record<string, unknown>>;

/** @returns the member at a path; `undefined` where it, or a part of the path, is missing */
export function at(value: unknown, ...path: readonly string[]): unknown {
  let found = value;
  for (const name of path) found = isObject(found) ? found[name] : undefined;
  return found;
}

export function objectAt(value: unknown, ...path: readonly string[]): Json | undefined {
  const found = at(value, ...path);
  return isObject(found) ? found : undefined;
}

export function textAt(value: unknown, ...path: readonly string[]): string | undefined {
  const found = at(value, ...path);
  return typeof found === "string" ? found : undefined;
}

/** @returns the objects in a list; of a single object, that one */
export function listAt(value: unknown, ...path: readonly string[]): readonly Json[] {
  const found = at(value, ...path);
  if (isObject(found)) return [found];
  return isList(found) ? found.filter(isObject) : [];
}

/** A number, which proto's JSON writes as a string if it has 64 bits. */
export function numberAt(value: unknown, ...path: readonly string[]): number | undefined {
  const found = at(value, ...path);
  const number = typeof found === "string" && found !== "" ? Number(found) : found;
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
}

/** A typed configuration: the name of its message without the package (`ExtAuthz`), and its content. */
export interface Typed {
  readonly type: string;
  readonly config: Json;
}

/** Unwraps `google.protobuf.Any` in JSON, and the TypedStruct with which control planes send what they do not know. */
export function typedAt(value: unknown, ...path: readonly string[]): Typed | undefined {
  const found = objectAt(value, ...path);
  const url = textAt(found, "@type");
  if (found === undefined || url === undefined) return undefined;
  if (!url.endsWith(".TypedStruct")) return { type: lastPart(url), config: found };
  return { type: lastPart(textAt(found, "type_url") ?? ""), config: objectAt(found, "value") ?? {} };
}

function lastPart(url: string): string {
  return url.slice(Math.max(url.lastIndexOf("."), url.lastIndexOf("/")) + 1);
}
