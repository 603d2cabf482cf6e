import { type Reporter, type SourceRange } from "../diagnostics/reporter.ts";
import { nearestHint, quoted } from "../../text/index.ts";
import type { MappingNode, ScalarNode, YamlNode } from "../syntax/tree.ts";
import { placeOf } from "../syntax/place-of.ts";

/** The entries of a mapping whose keys are all known. */
export class Fields {
  readonly node: MappingNode;
  readonly #entries: ReadonlyMap<string, { readonly key: ScalarNode; readonly value: YamlNode }>;
  readonly #report: Reporter;
  readonly #what: string;

  constructor(node: MappingNode, what: string, report: Reporter) {
    this.node = node;
    this.#what = what;
    this.#report = report;
    this.#entries = new Map(node.entries.map((entry) => [entry.key.text, entry]));
  }

  get(key: string): YamlNode | undefined {
    return this.#entries.get(key)?.value;
  }

  keyOf(key: string): ScalarNode | undefined {
    return this.#entries.get(key)?.key;
  }

  /** The value of a required key. If it is missing, that is reported. */
  require(key: string): YamlNode | undefined {
    const value = this.get(key);
    if (value === undefined) {
      this.#report.error(
        placeOf(this.node),
        "missing-key",
        `${this.#what} is missing the key ${quoted(key)}`,
      );
    }
    return value;
  }
}

/** @returns the mapping's fields; a node of another kind and unknown keys are reported */
export function readFields(
  report: Reporter,
  node: YamlNode,
  what: string,
  known: readonly string[],
): Fields | undefined {
  if (node.kind !== "mapping") {
    wrongType(report, node, what, "a mapping");
    return undefined;
  }
  for (const { key } of node.entries) {
    if (known.includes(key.text)) continue;
    const message = `unknown key ${quoted(key.text)} in ${what}`;
    report.error(placeOf(key), "unknown-key", message, () => nearestHint(key.text, known));
  }
  return new Fields(node, what, report);
}

/** @returns the list's items; a node of another kind is reported */
export function readItems(report: Reporter, node: YamlNode, what: string): readonly YamlNode[] {
  if (node.kind === "sequence") return node.items;
  wrongType(report, node, what, "a list");
  return [];
}

/** @returns the scalar of a string that is not empty; anything else is reported */
export function readString(report: Reporter, node: YamlNode, what: string): ScalarNode | undefined {
  if (node.kind !== "scalar" || typeof node.value !== "string") {
    wrongType(report, node, what, "a string");
    return undefined;
  }
  if (node.text.trim() !== "") return node;
  report.error(placeOf(node), "empty-value", `${what} must not be empty`);
  return undefined;
}

/** @returns one of `values`, or `undefined`, which is reported. */
export function readChoice<T extends string>(
  report: Reporter,
  node: YamlNode,
  what: string,
  values: readonly T[],
): T | undefined {
  // people write the choice `null` without quotes
  const text =
    node.kind === "scalar" && (typeof node.value === "string" || node.value === null) ? node.text : undefined;
  if (text === undefined || text === "") {
    wrongType(report, node, what, values.map((value) => quoted(value)).join(" or "));
    return undefined;
  }
  const found = values.find((value) => value === text);
  if (found === undefined) {
    report.error(placeOf(node), "invalid-value", `${quoted(text)} is not a valid value for ${what}`, () =>
      nearestHint(text, values),
    );
  }
  return found;
}

/** @returns whether it is `true`; anything but `true` and `false` is reported. */
export function readFlag(report: Reporter, node: YamlNode, what: string): boolean {
  if (node.kind === "scalar" && typeof node.value === "boolean") return node.value;
  wrongType(report, node, what, "`true` or `false`");
  return false;
}

/** @returns a whole number within bounds, or `undefined`, which is reported. */
export function readInteger(
  report: Reporter,
  node: YamlNode,
  what: string,
  [least, most]: readonly [least: number, most: number],
): number | undefined {
  if (node.kind !== "scalar" || typeof node.value !== "number") {
    wrongType(report, node, what, "a number");
    return undefined;
  }
  if (Number.isInteger(node.value) && node.value >= least && node.value <= most) return node.value;
  report.error(placeOf(node), "invalid-value", `${what} must be a whole number from ${least} to ${most}`);
  return undefined;
}

/** Reports that `node` does not have the expected type. */
export function wrongType(report: Reporter, node: YamlNode, what: string, expected: string): void {
  const quotable = expected === "a string" && node.kind === "scalar" && node.value !== null;
  const hint = quotable ? `put it in quotes: "${node.text}"` : undefined;
  report.error(placeOf(node), "wrong-type", `${what} must be ${expected}, not ${kindOf(node)}`, hint);
}

/** @returns the position at which a mapping lacks a key, or the key itself if it is there */
export function placeOfKey(fields: Fields, key: string): SourceRange {
  return placeOf(fields.keyOf(key) ?? fields.node);
}

function kindOf(node: YamlNode): string {
  if (node.kind === "sequence") return "a list";
  if (node.kind === "mapping") return "a mapping";
  return node.value === null ? (node.text === "" ? "empty" : "null") : `a ${typeof node.value}`;
}
