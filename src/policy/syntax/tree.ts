import type { Range, SourceText } from "../diagnostics/source-text.ts";

/**
 * A YAML document as a tree with positions. Mappings are lists of entries, not objects, so that no key collides with a
 * member that every object has. An alias is the same node as its anchor's.
 */
export type YamlNode = ScalarNode | SequenceNode | MappingNode;

interface NodeBase extends Range {
  readonly source: SourceText;
}

export type ScalarStyle = "plain" | "single-quoted" | "double-quoted" | "literal" | "folded";

export interface ScalarNode extends NodeBase {
  readonly kind: "scalar";
  readonly style: ScalarStyle;
  /** By the YAML 1.2 core schema; a quoted scalar is a string. */
  readonly value: string | number | boolean | null;
  /** The decoded text, also where `value` is not a string. */
  readonly text: string;
  /** The range of the content, without quotes or block header. */
  readonly content: Range;
  /** The indentation of a block scalar in columns; -1 for other styles, and if no line has text. */
  readonly indent: number;
  /** True for a block scalar that keeps all trailing line breaks (`|+`). */
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
  /** Without entries whose key is a duplicate. */
  readonly entries: readonly MappingEntry[];
}
