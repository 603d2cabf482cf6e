import { quoted } from "../../text/index.ts";
import { type Reporter } from "../diagnostics/reporter.ts";
import type { SourcePosition } from "../ir.ts";
import { readString, type Fields } from "../read/reader.ts";
import type { YamlNode } from "../syntax/tree.ts";
import type { ValueObject } from "../value.ts";
import { placeOf } from "../syntax/place-of.ts";

/** What the reader of one test needs to know about its file. */
export interface ParseContext {
  readonly report: Reporter;
  /** Attributes by name. */
  readonly people: ReadonlyMap<string, ValueObject>;
  /** Names of tests and matrices seen so far. */
  readonly names: Set<string>;
}

/** Reads a name that must be unique among the tests and matrices of the file. */
export function readName(fields: Fields, { report, names }: ParseContext): string {
  const node = fields.require("name");
  const name = node && readString(report, node, "`name`")?.text;
  if (node === undefined || name === undefined) return "";
  if (names.has(name)) report.error(placeOf(node), "duplicate-name", `duplicate test name ${quoted(name)}`);
  names.add(name);
  return name;
}

/** The position of a node, for people. */
export function positionOf(node: YamlNode): SourcePosition {
  const { source, start } = placeOf(node);
  return { file: source.file, ...source.position(start) };
}
