import { quoted } from "../../text/index.ts";
import { type Reporter } from "../diagnostics/reporter.ts";
import { wrongType } from "../read/reader.ts";
import type { MappingEntry, MappingNode, YamlNode } from "../syntax/tree.ts";
import type { Value, ValueObject } from "../value.ts";
import { placeOf } from "../syntax/place-of.ts";

/** @returns the entries of a mapping whose keys the author chooses; a node of another kind is reported */
export function readEntries(
  report: Reporter,
  node: YamlNode | undefined,
  what: string,
): readonly MappingEntry[] {
  if (node === undefined) return [];
  if (node.kind === "mapping") return node.entries;
  wrongType(report, node, what, "a mapping");
  return [];
}

/** @returns a mapping as JSON; a node of another kind is reported */
export function readObject(report: Reporter, node: YamlNode, what: string): ValueObject | undefined {
  if (node.kind === "mapping") return toObject(report, node);
  wrongType(report, node, what, "a mapping");
  return undefined;
}

/** @returns any node as JSON. */
export function readValue(report: Reporter, node: YamlNode): Value {
  switch (node.kind) {
    case "mapping":
      return toObject(report, node);
    case "sequence":
      return node.items.map((item) => readValue(report, item));
    case "scalar":
      if (typeof node.value !== "number" || Number.isFinite(node.value)) return node.value;
      report.error(placeOf(node), "not-json", `${quoted(node.text)} is not a JSON number`);
      return null;
  }
}

/** Members become own properties, `__proto__` like any other. */
function toObject(report: Reporter, { entries }: MappingNode): ValueObject {
  return Object.fromEntries(entries.map(({ key, value }) => [key.text, readValue(report, value)]));
}

/** @returns a document as text: a string as it is, any other node as JSON */
export function documentText(report: Reporter, node: YamlNode): string {
  if (node.kind === "scalar" && typeof node.value === "string") return node.text;
  return JSON.stringify(readValue(report, node));
}
