import { JsonError, type JsonReason } from "./json-error.ts";
import { JsonScanner, type JsonLimits } from "./scanner.ts";

/** A value with the span of its text, in UTF-16 units. */
export type JsonNode = JsonScalar | JsonArrayNode | JsonObjectNode;

interface JsonSpan {
  readonly start: number;
  readonly stop: number;
}
export interface JsonScalar extends JsonSpan {
  readonly kind: "string" | "number" | "boolean" | "null";
  /** A string may contain an unpaired surrogate; an inexact number is NaN. */
  readonly value: string | number | boolean | null;
}
export interface JsonArrayNode extends JsonSpan {
  readonly kind: "array";
  readonly items: readonly JsonNode[];
}
export interface JsonObjectNode extends JsonSpan {
  readonly kind: "object";
  /** In source order. Names may repeat and may contain unpaired surrogates. */
  readonly members: readonly JsonMember[];
}
export interface JsonMember {
  readonly name: string;
  /** The start of its key. */
  readonly start: number;
  readonly value: JsonNode;
}

export type JsonTree =
  { readonly ok: true; readonly root: JsonNode } | { readonly ok: false; readonly reason: JsonReason };

/**
 * Parses a document strictly (see {@link JsonScanner}), with the position of each value. Text that is not UTF-8 (RFC
 * 3629) is refused. Never throws.
 */
export function parseJsonTree(text: string, limits: Omit<JsonLimits, "anyText">): JsonTree {
  if (!text.isWellFormed()) return { ok: false, reason: "utf8" };
  try {
    const scanner = new JsonScanner(text, { ...limits, anyText: true });
    const root = readNode(scanner);
    scanner.end();
    return { ok: true, root };
  } catch (error) {
    // any other error is a stack overflow, if the caller allows that many levels
    return { ok: false, reason: error instanceof JsonError ? error.reason : "depth" };
  }
}

function readNode(scanner: JsonScanner): JsonNode {
  const kind = scanner.start();
  const start = scanner.position;
  switch (kind) {
    case "object": {
      const members = readMembers(scanner);
      return { kind, start, stop: scanner.position, members };
    }
    case "array": {
      const items = readItems(scanner);
      return { kind, start, stop: scanner.position, items };
    }
    case "string": {
      const value = scanner.string();
      return { kind, value, start, stop: scanner.position };
    }
    case "word": {
      const value = scanner.word();
      return { kind: value === null ? "null" : "boolean", value, start, stop: scanner.position };
    }
    case "number": {
      const value = scanner.number();
      return { kind, value, start, stop: scanner.position };
    }
  }
}

function readMembers(scanner: JsonScanner): readonly JsonMember[] {
  const members: JsonMember[] = [];
  if (!scanner.open()) return members;
  do {
    const start = scanner.position;
    const name = scanner.memberName();
    members.push({ name, start, value: readNode(scanner) });
  } while (scanner.hasNextMember());
  return members;
}

function readItems(scanner: JsonScanner): readonly JsonNode[] {
  const items: JsonNode[] = [];
  if (!scanner.open()) return items;
  do items.push(readNode(scanner));
  while (scanner.hasNextElement());
  return items;
}
