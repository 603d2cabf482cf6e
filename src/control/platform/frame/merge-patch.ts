import * as z from "zod";
import { isObject } from "../../../json/index.ts";
import { parseBody } from "./parse-input.ts";
import type { Route } from "./route.ts";

/** A member of a PATCH that is merged with the current value instead of replacing it. */
export function mergedMember() {
  return z.record(z.string(), z.unknown()).meta({
    description: "Merged with the current value (RFC 7396): other members stay, and `null` removes one.",
  });
}

/**
 * The PUT that a PATCH amounts to: the given members, and of those that are merged the whole new value.
 *
 * @param schema - that of the PUT's body
 * @param patch - the body of the PATCH
 * @param merged - names of the members that are merged
 * @throws ApiError 422 if the result is not valid
 */
export function mergedBody<S extends z.ZodType>(
  schema: S,
  current: object,
  patch: object,
  merged: readonly string[],
): z.output<S> {
  const before = new Map(Object.entries(current));
  const body = Object.entries(patch).map(([name, value]: [string, unknown]) => [
    name,
    merged.includes(name) ? mergePatch(before.get(name), value) : value,
  ]);
  return parseBody(schema, Object.fromEntries(body)) as z.output<S>;
}

/** RFC 7396, section 2. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const members = new Map<string, unknown>(isObject(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) members.delete(name);
    else members.set(name, mergePatch(members.get(name), value));
  }
  return Object.fromEntries(members);
}

/**
 * A PUT that changes only given members, and a PATCH that does the same, because no member of its body is an object to
 * merge.
 */
export function withPatch(put: Route): readonly Route[] {
  const operation = put.operation.replace(/^update/, "patch");
  return [
    put,
    { ...put, method: "patch", operation, description: `${put.description ?? ""} As PUT.`.trim() },
  ];
}
