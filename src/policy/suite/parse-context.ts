import { quoted } from "../../text/index.ts";
import { type Reporter } from "../diagnostics/reporter.ts";
import type { SourcePosition } from "../ir.ts";
import { readString, type Fields } from "../read/reader.ts";
import type { YamlNode } from "../syntax/tree.ts";
import type { ValueObject } from "../value.ts";
import { placeOf } from "../syntax/place-of.ts";

/** What reading one test needs to know of its file. */
export interface ParseContext {
  readonly report: Reporter;
  /** Attributes by name. */
  readonly people: ReadonlyMap<string, ValueObject>;
  /** Names of tests and tables seen so far. */
  readonly names: Set<string>;
}

/** Reads a name that no other test or table of the file has. */
export function readName(fields: Fields, { report, names }: ParseContext): string {
  const node = fields.require("name");
  const name = node && readString(report, node, "`name`")?.text;
  if (node === undefined || name === undefined) return "";
  if (names.has(name)) report.error(placeOf(node), "duplicate-name", `two tests are called ${quoted(name)}`);
  names.add(name);
  return name;
}

/** Where a node stands, for people. */
export function positionOf(node: YamlNode): SourcePosition {
  const { source, start } = placeOf(node);
  return { file: source.file, ...source.position(start) };
}
