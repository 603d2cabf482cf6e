import { parseJsonTree, type JsonNode, type JsonTree } from "../../json/index.ts";
import { UNAVAILABLE, type Value } from "../value.ts";

/** Maximum nesting depth of objects and arrays. */
const MAX_DEPTH = 256;

/**
 * Parses a document that a plan applies to. Equivalent to `envoy/lua/gatehouse/json_tape.lua`. Never throws.
 *
 * @param values - the largest number of values accepted
 */
export function parseDocument(text: string, values = Infinity): JsonTree {
  return parseJsonTree(text, { depth: MAX_DEPTH, values });
}

/** Caches the values that conditions see. */
export type SeenValue = Value | typeof UNAVAILABLE;

const seen = new WeakMap<JsonNode, SeenValue>();

/**
 * A value as conditions see it. A duplicate member is UNAVAILABLE. A value that exists but cannot be compared (an
 * inexact number, an unpaired surrogate) becomes one that no operator accepts.
 */
export function seenValue(node: JsonNode): SeenValue {
  let value = seen.get(node);
  if (value === undefined) {
    value = makeSeenValue(node);
    seen.set(node, value);
  }
  return value;
}

function makeSeenValue(node: JsonNode): SeenValue {
  if (node.kind === "array") return node.items.map(seenValue) as Value;
  if (node.kind !== "object") return node.value;
  const members = new Map<string, SeenValue>();
  for (const { name, value } of node.members) {
    if (!name.isWellFormed()) continue; // an unpaired surrogate equals no name
    members.set(name, members.has(name) ? UNAVAILABLE : seenValue(value));
  }
  // no prototype setter is called here, whatever the names are
  return Object.fromEntries(members) as Value;
}
