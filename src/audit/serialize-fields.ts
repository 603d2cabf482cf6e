import { redactTarget, sanitize } from "../text/index.ts";

/** How a field is written: what it holds, and its share of the line in characters, usually and when the line is long. */
export interface Field {
  readonly kind: "text" | "target" | "integer" | "texts" | "denied";
  readonly usual: number;
  readonly tight: number;
  /** The share of one of several texts; 64. */
  readonly item?: number;
}

/** Writes the members of an object: the fields of a table in their order, and no others. */
export type FieldsWriter = (record: object, share: "usual" | "tight") => string;

const ITEM = 64;
/** The last of several texts where others were left out. */
const MORE = '"..."';

/** @returns a writer for records with these fields, every string sanitized (see {@link sanitize}). */
export function fieldsWriter(fields: Readonly<Record<string, Field>>): FieldsWriter {
  const columns = Object.entries(fields).map(([name, field]) => ({
    name,
    usual: memberWriter(name, field, field.usual),
    tight: memberWriter(name, field, field.tight),
  }));
  return (record, share) => {
    const members: string[] = [];
    for (const column of columns) {
      const value = (record as Readonly<Record<string, unknown>>)[column.name];
      if (value === undefined) continue;
      members.push(column[share](value));
    }
    // joined rather than added up: one flat string, where a rope would hold on to every piece
    return members.join(",");
  };
}

/** Sets, rules, hosts and verdicts repeat from record to record: what was written last is not looked at again. */
function memberWriter(name: string, field: Field, limit: number): (value: unknown) => string {
  let last: unknown;
  let member = "";
  return (value) => {
    if (value !== last || member === "" || typeof value === "object") {
      member = `"${name}":${serializeField(value, field, limit)}`;
      last = value;
    }
    return member;
  };
}

function serializeField(value: unknown, { kind, item = ITEM }: Field, limit: number): string {
  if (value === null) return "null";
  switch (kind) {
    case "integer":
      return serializeInteger(value);
    case "texts":
      return Array.isArray(value) ? serializeTexts(value, limit, item) : "[]";
    case "denied":
      return Array.isArray(value) ? serializeDenied(value, limit) : "[]";
    case "target":
      // the limit first: a target may be a megabyte
      return serializeText(redactTarget(asText(value).slice(0, 4 * limit)), limit);
    case "text":
      return serializeText(asText(value), limit);
  }
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
}

function serializeInteger(value: unknown): string {
  const number = typeof value === "number" ? Math.floor(value) : 0;
  return Number.isSafeInteger(number) ? String(number) : "0";
}

function serializeTexts(values: readonly unknown[], limit: number, share: number): string {
  let list = "";
  for (const value of values) {
    const item = serializeText(asText(value), share);
    const separator = list === "" ? "" : ",";
    // room for the brackets, and for saying that there are more
    if (list.length + item.length + MORE.length + 4 > limit) return `[${list}${separator}${MORE}]`;
    list += separator + item;
  }
  return `[${list}]`;
}

/** Denied messages; the last entry stands for all that found no room. */
function serializeDenied(values: readonly unknown[], limit: number): string {
  const items: string[] = [];
  let length = 0;
  for (const [index, value] of values.entries()) {
    const { direction, type, rule, count } = (value ?? {}) as Readonly<Record<string, unknown>>;
    const where = `"direction":${serializeText(asText(direction), 16)},"rule":${serializeText(asText(rule), 96)}`;
    const item = `{${where},"type":${serializeText(asText(type), 128)},"count":${serializeInteger(count)}}`;
    if (length + item.length + REST_LENGTH > limit) {
      const rest = values.slice(index).reduce<number>((sum, denied) => sum + countOf(denied), 0);
      items.push(`{"type":${MORE},"count":${serializeInteger(rest)}}`);
      break;
    }
    items.push(item);
    length += item.length + 1;
  }
  return `[${items.join(",")}]`;
}

/** Of the entry that stands for others, and of the brackets. */
const REST_LENGTH = 52;

function countOf(denied: unknown): number {
  const count = (denied as { readonly count?: unknown } | null | undefined)?.count;
  return typeof count === "number" ? count : 0;
}

/** A JSON string of at most `limit` characters and its quotes; what is cut off is marked by `...`. */
function serializeText(text: string, limit: number): string {
  const clean = sanitize(text, limit);
  if (NEEDS_NO_ESCAPE.test(clean)) return `"${clean}"`;
  const json = ascii(JSON.stringify(clean));
  if (json.length - 2 <= limit) return json;
  let short = "";
  for (const character of clean) {
    const escaped = ascii(JSON.stringify(character)).slice(1, -1);
    if (short.length + escaped.length > limit - 3) break;
    short += escaped;
  }
  return `"${short}..."`;
}

const NEEDS_NO_ESCAPE = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;
const BEYOND_ASCII = /[\x7f-\uffff]/g;
const HAS_BEYOND_ASCII = /[\x7f-\uffff]/;

/** JSON in ASCII alone: what a terminal, a pipe or a log shipper does with other bytes is nothing to rely on. */
export function ascii(json: string): string {
  if (!HAS_BEYOND_ASCII.test(json)) return json;
  return json.replace(BEYOND_ASCII, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
