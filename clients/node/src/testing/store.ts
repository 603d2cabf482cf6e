import { randomBytes } from "node:crypto";
import { DATA } from "./fake-data.ts";
import { textOf, type Json, type JsonObject } from "./validate.ts";

/** Answered with the status and message of its code. */
export class Refused extends Error {
  readonly code: string;
  readonly details: JsonObject;

  constructor(code: string, details: JsonObject = {}) {
    super(DATA.errors[code]?.message ?? code);
    this.code = code;
    this.details = details;
  }
}

/** A resource as it is kept: what is answered, and what is not. */
export interface Row {
  readonly data: JsonObject;
  revision: number;
  /** In the order of creation. */
  readonly order: number;
  readonly secret?: { text: string };
}

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

/** An id as the API makes them: a prefix and 26 characters. */
export function newId(prefix: string): string {
  const text = Array.from(randomBytes(25), (byte) => ALPHABET[byte & 31]).join("");
  return `${prefix}_0${text}`;
}

/** The rows of one kind. */
export class Table {
  readonly rows = new Map<string, Row>();
  readonly #notFound: string;
  readonly #clock: () => number;
  #made = 0;

  constructor(notFound: string, clock: () => number) {
    this.#notFound = notFound;
    this.#clock = clock;
  }

  now(): string {
    return new Date(this.#clock()).toISOString();
  }

  insert(data: JsonObject, secret?: string): Row {
    this.#made += 1;
    const times = { created_at: this.now(), updated_at: this.now() };
    const row = {
      data: { ...data, ...times },
      revision: 1,
      order: this.#made,
      ...(secret !== undefined && { secret: { text: secret } }),
    };
    this.rows.set(textOf(data["id"]), row);
    return row;
  }

  get(id: string): Row {
    const row = this.rows.get(id);
    if (row === undefined) throw new Refused(this.#notFound);
    return row;
  }

  /** Changes what differs; the revision tells whether anything did. @returns the names of what differed */
  change(row: Row, members: JsonObject): readonly string[] {
    const changed = Object.keys(members).filter((name) => !isEqual(row.data[name], members[name] ?? null));
    if (changed.length === 0) return [];
    Object.assign(row.data, members, { updated_at: this.now() });
    row.revision += 1;
    return changed.sort();
  }

  remove(matches: (data: JsonObject) => boolean): void {
    for (const [id, { data }] of this.rows) if (matches(data)) this.rows.delete(id);
  }
}

function isEqual(one: Json | undefined, other: Json): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** RFC 7396. */
export function merged(before: Json | undefined, change: Json): Json {
  if (typeof change !== "object" || change === null || Array.isArray(change)) return change;
  const start = typeof before === "object" && before !== null && !Array.isArray(before) ? before : {};
  const result: JsonObject = { ...start };
  for (const [name, value] of Object.entries(change)) {
    if (value === null) Reflect.deleteProperty(result, name);
    else result[name] = merged(start[name], value);
  }
  return result;
}
