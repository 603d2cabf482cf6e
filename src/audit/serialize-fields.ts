import { redactTarget, sanitize } from "../text/index.ts";

/** How a field is written: its type, and its share of the line in characters, normally and if the line is long. */
export interface Field {
  readonly kind: "text" | "target" | "integer" | "texts" | "denied";
  readonly usual: number;
  readonly tight: number;
  /** The share of each of several texts. Default: 64. */
  readonly item?: number;
}

/** Writes the members of an object: exactly the fields of a table, in their order. */
export type FieldsWriter = (record: object, share: "usual" | "tight") => string;

const ITEM = 64;
/** The last entry of several texts if others were omitted. */
const MORE = '"..."';

/** @returns a writer for records with these fields, with every string sanitized (see {@link sanitize}). */
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
    // joined instead of concatenated: a flat string, whereas a rope would keep every piece in memory
    return members.join(",");
  };
}

/** Sets, rules, hosts and verdicts repeat from record to record, so the last value's text is reused. */
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
      // apply the limit first: a target may be a megabyte
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
    // room for the brackets, and for the entry that says that there are more
    if (list.length + item.length + MORE.length + 4 > limit) return `[${list}${separator}${MORE}]`;
    list += separator + item;
  }
  return `[${list}]`;
}

/** Room for the ids of the rules that may have denied a message together, which name customers' sets. */
const RULES = 256;

/** Denied messages; the last entry represents all that did not fit. */
function serializeDenied(values: readonly unknown[], limit: number): string {
  const items: string[] = [];
  let length = 0;
  for (const [index, value] of values.entries()) {
    const {
      direction,
      type,
      rule,
      policy_digest: set,
      count,
    } = (value ?? {}) as Readonly<Record<string, unknown>>;
    const where = `"direction":${serializeText(asText(direction), 16)},"rule":${serializeText(asText(rule), RULES)}`;
    const whose = set === undefined ? "" : `,"policy_digest":${serializeText(asText(set), ITEM)}`;
    const what = `"type":${serializeText(asText(type), 128)}${whose}`;
    const item = `{${where},${what},"count":${serializeInteger(count)}}`;
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

/** Size of the entry that represents others, and of the brackets. */
const REST_LENGTH = 52;

function countOf(denied: unknown): number {
  const count = (denied as { readonly count?: unknown } | null | undefined)?.count;
  return typeof count === "number" ? count : 0;
}

/** A JSON string of at most `limit` characters plus quotes; a truncated one ends in `...`. */
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

/** JSON in pure ASCII, because terminals, pipes and log shippers treat other bytes differently. */
export function ascii(json: string): string {
  if (!HAS_BEYOND_ASCII.test(json)) return json;
  return json.replace(BEYOND_ASCII, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
