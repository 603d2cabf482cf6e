import {
  isObject,
  MAX_VALUES,
  parseJson,
  parseJsonTree,
  type JsonNode,
  type JsonObject,
} from "../../json/index.ts";

/** Deeper nesting than any provider's, and more values. */
const LIMITS = { depth: 32, values: MAX_VALUES };
/** A number that may be inexact has at least 15 characters, or an exponent. */
const SUSPICIOUS = /[\d.]{15}|\de/i;

/**
 * Takes numbers that are not exact out of what a provider says: the client library rounds them, as `JSON.parse` does, and a rounded
 * claim may be another account's number.
 *
 * @param text - JSON
 * @returns the same text with `{}` for each number that is not exact, which no claim takes
 * @throws Error for what may have such a number and is not strictly JSON
 */
export function withoutInexactNumbers(text: string): string {
  if (!SUSPICIOUS.test(text)) return text;
  const tree = parseJsonTree(text, LIMITS);
  if (!tree.ok) throw new Error(`the provider's answer is not JSON that is read (${tree.reason})`);
  let exact = "";
  let end = 0;
  for (const { start, stop } of inexactNumbers(tree.root)) {
    exact += `${text.slice(end, start)}{}`;
    end = stop;
  }
  return exact + text.slice(end);
}

function* inexactNumbers(node: JsonNode): Generator<JsonNode> {
  if (node.kind === "object") for (const { value } of node.members) yield* inexactNumbers(value);
  else if (node.kind === "array") for (const item of node.items) yield* inexactNumbers(item);
  else if (Number.isNaN(node.value)) yield node;
}

/**
 * The claims of a token whose signature is verified. A number that is not exact is NaN, which no claim takes.
 *
 * @throws Error where the payload is not strictly JSON
 */
export function exactClaims(token: string): JsonObject {
  const payload = Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8");
  const { value } = parseJson(payload, { ...LIMITS, anyText: true });
  if (!isObject(value)) throw new Error("the payload of the provider's token is not an object");
  return value;
}
