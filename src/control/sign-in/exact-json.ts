import {
  isObject,
  MAX_VALUES,
  parseJson,
  parseJsonTree,
  type JsonNode,
  type JsonObject,
} from "../../json/index.ts";

/** Deeper and more than any provider's responses. */
const LIMITS = { depth: 32, values: MAX_VALUES };
/** An inexact number has at least 15 characters, or an exponent. */
const SUSPICIOUS = /[\d.]{15}|\de/i;

/**
 * Removes inexact numbers from a provider's response: the client library rounds them, like `JSON.parse`, and a rounded
 * claim may be the number of another account.
 *
 * @param text - JSON
 * @returns the same text with `{}` for each inexact number, which no claim accepts
 * @throws Error for text that may contain such a number and is not strict JSON
 */
export function withoutInexactNumbers(text: string): string {
  if (!SUSPICIOUS.test(text)) return text;
  const tree = parseJsonTree(text, LIMITS);
  if (!tree.ok) throw new Error(`the provider's response is not valid JSON (${tree.reason})`);
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
 * The claims of a token whose signature was verified. An inexact number is NaN, which no claim accepts.
 *
 * @throws Error if the payload is not strict JSON
 */
export function exactClaims(token: string): JsonObject {
  const payload = Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8");
  const { value } = parseJson(payload, { ...LIMITS, anyText: true });
  if (!isObject(value)) throw new Error("the payload of the provider's token is not an object");
  return value;
}
