import { parseJsonTree, type JsonNode, type JsonTree } from "../../json/index.ts";
import { UNAVAILABLE, type Value } from "../value.ts";

/** How deep objects and arrays may lie in each other. */
const MAX_DEPTH = 256;

/**
 * Reads a document that a plan is about. The same as `envoy/lua/gatehouse/json_tape.lua`. Never throws.
 *
 * @param values - how many there may be
 */
export function parseDocument(text: string, values = Infinity): JsonTree {
  return parseJsonTree(text, { depth: MAX_DEPTH, values });
}

/** What conditions see of values; each is made once. */
export type SeenValue = Value | typeof UNAVAILABLE;

const seen = new WeakMap<JsonNode, SeenValue>();

/**
 * A value as conditions see it. A member that stands twice is UNAVAILABLE. What is there, but is compared with nothing
 * (numbers that are not exact, half of a surrogate pair), is what no operator takes.
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
    if (!name.isWellFormed()) continue; // equals no name
    members.set(name, members.has(name) ? UNAVAILABLE : seenValue(value));
  }
  // no setter of a prototype is called here, whatever the names are
  return Object.fromEntries(members) as Value;
}
