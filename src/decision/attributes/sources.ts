import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { CORE_SCHEMA, floatCoreTag, intCoreTag, load, mapTag, Schema } from "js-yaml";
import { exactNumber, isObject } from "../../json/index.ts";
import type { ValueObject } from "../../policy/index.ts";

/** The source of a declared attribute root such as `target_user`. */
export interface AttributeSource {
  /**
   * @param root - the attribute root that is looked up, e.g. `target_user`
   * @returns the entry's attributes, or `undefined` if there is no entry with that key
   * @throws if the source fails: the attribute is then unavailable, which is not the same as missing
   */
  lookup(key: string, root: string): ValueObject | undefined | Promise<ValueObject | undefined>;
}

/** The part of a logger that sources use. */
interface Log {
  warn(object: object, message: string): void;
}

/**
 * A source that reads one JSON or YAML file: an object of entries by key, parsed strictly (UTF-8, no duplicate keys).
 * The file is read again when it changes. If it cannot be read, the last good content is kept; without any, every
 * look-up throws.
 */
export class FileSource implements AttributeSource {
  readonly #path: string;
  readonly #log: Log;
  #entries: ReadonlyMap<string, ValueObject> | undefined;
  #listed: { readonly version: string; readonly ids: readonly string[] } | undefined;
  #version = "";

  constructor(path: string, log: Log) {
    this.#path = path;
    this.#log = log;
  }

  lookup(key: string): ValueObject | undefined {
    if (this.#entries === undefined) throw new Error(`attribute source ${this.#path} is not loaded`);
    return this.#entries.get(key);
  }

  /** @returns every key, and the version of the content, the same in every process; `undefined` if it is not loaded */
  list(): { readonly version: string; readonly ids: readonly string[] } | undefined {
    return this.#listed;
  }

  /** Loads the file if it has changed. Never rejects. */
  async refresh(): Promise<void> {
    try {
      const { mtimeMs, size, ino } = await stat(this.#path);
      const version = `${mtimeMs}:${size}:${ino}`;
      if (version === this.#version) return;
      const bytes = await readFile(this.#path);
      this.#entries = parseEntries(bytes);
      this.#listed = {
        version: createHash("sha256").update(bytes).digest("hex"),
        ids: [...this.#entries.keys()],
      };
      this.#version = version;
    } catch (error) {
      this.#log.warn(
        { err: error, path: this.#path },
        this.#entries === undefined
          ? "cannot read attribute source; conditions that look it up are unknown"
          : "cannot read attribute source; using the last good content",
      );
    }
  }
}

/**
 * YAML as everybody reads it: without inexact numbers, and without keys that are read as other text than they seem.
 * `007` is the number 7, and the entry would be somebody else's.
 */
const EXACT = [exactly(intCoreTag), exactly(floatCoreTag)];
const TEXT_KEYS: typeof mapTag = {
  ...mapTag,
  addPair: (entries, key, value) =>
    typeof key === "string"
      ? mapTag.addPair(entries, key, value)
      : `a key must be text, and this one is read as ${String(key)}: put it in quotes`,
};
const REPLACED: readonly unknown[] = [intCoreTag, floatCoreTag, mapTag];
const EXACT_SCHEMA = new Schema([
  ...CORE_SCHEMA.tags.filter((tag) => !REPLACED.includes(tag)),
  ...EXACT,
  TEXT_KEYS,
]);

function exactly(tag: typeof intCoreTag): typeof intCoreTag {
  return {
    ...tag,
    resolve(source, ...others) {
      const value = tag.resolve(source, ...others);
      if (typeof value === "number" && !isExact(source, value))
        throw new Error(`the number ${source} is not exact: put it in quotes`);
      return value;
    },
  };
}

function isExact(source: string, value: number): boolean {
  if (/^[-+]?\.(?:inf|nan)$/i.test(source)) return true;
  if (/^[-+]?0[box]/.test(source)) return Number.isSafeInteger(value);
  return !Number.isNaN(exactNumber(source.replace(/^\+/, "")));
}

function parseEntries(bytes: Uint8Array): ReadonlyMap<string, ValueObject> {
  const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  const parsed = load(text, { schema: EXACT_SCHEMA });
  if (!isObject(parsed)) throw new Error("an attribute source must be an object of entries by key");
  return new Map(
    Object.entries(parsed).map(([key, entry]) => {
      if (!isObject(entry)) throw new Error(`entry \`${key}\` of the attribute source must be an object`);
      return [key, entry as ValueObject];
    }),
  );
}
