import { isList, isObject } from "../../json/index.ts";
import {
  formatPath,
  readAttribute,
  UNAVAILABLE,
  type AttributePath,
  type Attributes,
  type PolicySetIR,
  type Value,
} from "../../policy/evaluation.ts";
import type { RulesInputs } from "../../protocol/record.ts";
import type { InputHash } from "../inputs/input-hash.ts";
import { lookupKey, REQUEST_INPUTS } from "../inputs/record-inputs.ts";
import { lookedUp } from "../policies/needs.ts";
import type { HashedValue, KnownItem, RecordedValue, RecordedValues } from "./possible-verdicts.ts";

const UNRECORDED: RecordedValue = { kind: "unrecorded" };
const PRESENT: RecordedValue = { kind: "present" };
const MISSING: RecordedValue = { kind: "known", value: undefined };
const NOT_AVAILABLE: RecordedValue = { kind: "known", value: UNAVAILABLE };

const names = new WeakMap<AttributePath, string>();

/** The text of a path, which is one object per place in a policy set. */
export function nameOf(path: AttributePath): string {
  let name = names.get(path);
  if (name === undefined) names.set(path, (name = formatPath(path)));
  return name;
}

/** What a record holds of the attributes that a condition reads. */
export class RecordedAttributes implements RecordedValues {
  readonly #inputs: RulesInputs;
  readonly #ir: PolicySetIR;
  /** Known without a record: `path`, `env`, and members of `request`. */
  readonly #own: Attributes;
  readonly #hash: InputHash | undefined;

  /** @param hash - by the key with which the gateway hashed values; absent if it is not known */
  constructor(inputs: RulesInputs, ir: PolicySetIR, own: Attributes, hash: InputHash | undefined) {
    this.#inputs = inputs;
    this.#ir = ir;
    this.#own = own;
    this.#hash = hash !== undefined && hash.keyId === inputs.key ? hash : undefined;
  }

  get canHash(): boolean {
    return this.#hash !== undefined;
  }

  hash(value: string | number | boolean): string | undefined {
    return this.#hash && digestIn(this.#hash.of(value));
  }

  read(path: AttributePath): RecordedValue {
    const [root = "", member = ""] = path;
    if (root === "path" || root === "env" || (root === "request" && REQUEST_INPUTS.has(member)))
      return { kind: "known", value: readAttribute(path, this.#own) };
    if ((root === "user" || root === "customer") && this.#inputs.caller !== "identified") return MISSING;
    const source = lookedUp(this.#ir, root);
    if (source !== undefined) {
      const { lookups } = this.#inputs;
      const recorded = lookups !== undefined && Object.hasOwn(lookups, root) ? lookups[root] : undefined;
      // another key, or another source, would have given something else
      if (recorded?.[0] !== source.name || recorded[1] !== lookupKey(source.key, this.#own))
        return UNRECORDED;
    }
    return this.#stateOf(nameOf(path)) ?? this.#belowRecorded(path);
  }

  #stateOf(name: string): RecordedValue | undefined {
    const { values, hashes, missing, unavailable, redacted } = this.#inputs;
    if (values !== undefined && Object.hasOwn(values, name))
      return { kind: "known", value: values[name] as Value };
    if (hashes !== undefined && Object.hasOwn(hashes, name)) return this.#hashed(hashes[name] ?? "");
    if (missing?.includes(name) === true) return MISSING;
    if (unavailable?.includes(name) === true) return NOT_AVAILABLE;
    return redacted?.includes(name) === true ? PRESENT : undefined;
  }

  /** What follows for a member from what is recorded of an object, list or scalar above it. */
  #belowRecorded(path: AttributePath): RecordedValue {
    for (let length = path.length - 1; length >= 1; length--) {
      const above = this.#stateOf(formatPath(path.slice(0, length)));
      if (above === undefined) continue;
      if (above.kind === "hash") return MISSING;
      if (above.kind !== "known") return UNRECORDED;
      const { value } = above;
      if (value === UNAVAILABLE) return NOT_AVAILABLE;
      if (value === HASHED_OBJECT) return UNRECORDED;
      // its first name is that of the value itself
      const read = readAttribute(["of", ...path.slice(length)], { of: value });
      return { kind: "known", value: read };
    }
    return UNRECORDED;
  }

  #hashed(hash: string | readonly string[]): RecordedValue {
    if (typeof hash === "string") {
      const item = this.#item(hash);
      return "item" in item ? { kind: "known", value: item.item } : { kind: "hash", hash: item };
    }
    const items = hash.map((text) => this.#item(text));
    return items.every((item) => "item" in item)
      ? { kind: "known", value: items.map(({ item }) => item) }
      : { kind: "hash", hash: items };
  }

  #item(text: string): HashedValue | KnownItem {
    if (text === "null") return { item: null };
    if (text === "object") return { item: HASHED_OBJECT };
    const type = text.slice(0, text.indexOf(":"));
    // there are only two of them
    if (type === "boolean" && this.#hash !== undefined) return { item: text === this.#hash.of(true) };
    return { type: type as HashedValue["type"], digest: digestIn(text) };
  }
}

/** An object of which only that is known. */
const HASHED_OBJECT: Value = Object.freeze({});

function digestIn(text: string): string {
  return text.slice(text.indexOf(":") + 1);
}

/** Puts a value at a path, for conditions that read nothing else. */
export function putValue(
  attributes: Record<string, unknown>,
  path: AttributePath,
  value: Value | typeof UNAVAILABLE | undefined,
): void {
  if (value === undefined) return;
  let at: unknown = attributes;
  for (const [index, key] of path.entries()) {
    if (!isObject(at) || isList(at)) return;
    const members = at as Record<string, unknown>;
    if (index === path.length - 1) {
      // an object may hold members that were put there before
      if (!Object.hasOwn(members, key) || !isObject(value)) members[key] = value;
      return;
    }
    if (!Object.hasOwn(members, key)) members[key] = Object.create(null);
    at = members[key];
  }
}
