import type { Range, SourceText } from "../diagnostics/source-text.ts";

/**
 * A YAML document as a tree that knows where everything stands. Mappings are lists of entries, never objects:
 * no key can collide with what every object has. An alias is the very node that its anchor names.
 */
export type YamlNode = ScalarNode | SequenceNode | MappingNode;

interface NodeBase extends Range {
  readonly source: SourceText;
}

export type ScalarStyle = "plain" | "single-quoted" | "double-quoted" | "literal" | "folded";

export interface ScalarNode extends NodeBase {
  readonly kind: "scalar";
  readonly style: ScalarStyle;
  /** By the YAML 1.2 core schema; what is quoted is a string. */
  readonly value: string | number | boolean | null;
  /** The decoded text: what is a string for `value` other than strings, too. */
  readonly text: string;
  /** Where the content stands, without quotes or block header. */
  readonly content: Range;
  /** Columns that each line of a block scalar is indented by; -1 for other styles, and where no line has text. */
  readonly indent: number;
  /** True for a block scalar that ends with all the line breaks that follow it (`|+`). */
  readonly keepsBreaks: boolean;
}

export interface SequenceNode extends NodeBase {
  readonly kind: "sequence";
  readonly items: readonly YamlNode[];
}

export interface MappingEntry {
  readonly key: ScalarNode;
  readonly value: YamlNode;
}

export interface MappingNode extends NodeBase {
  readonly kind: "mapping";
  /** Without the entries that repeat a key. */
  readonly entries: readonly MappingEntry[];
}
