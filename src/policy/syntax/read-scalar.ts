import {
  boolCoreTag,
  CHOMPING_MODE,
  floatCoreTag,
  getScalarValue,
  intCoreTag,
  NOT_RESOLVED,
  nullCoreTag,
  SCALAR_STYLE,
  type ScalarEvent,
} from "js-yaml";
import type { SourceText } from "../diagnostics/source-text.ts";
import type { ScalarNode, ScalarStyle } from "./tree.ts";

const STYLES: Readonly<Record<ScalarEvent["style"], ScalarStyle>> = {
  [SCALAR_STYLE.PLAIN]: "plain",
  [SCALAR_STYLE.SINGLE_QUOTED]: "single-quoted",
  [SCALAR_STYLE.DOUBLE_QUOTED]: "double-quoted",
  [SCALAR_STYLE.LITERAL_BLOCK]: "literal",
  [SCALAR_STYLE.FOLDED_BLOCK]: "folded",
};

/** The core schema in order of resolution, YAML 1.2.2 section 10.3.2. */
const CORE_TAGS = [nullCoreTag, boolCoreTag, intCoreTag, floatCoreTag] as const;

/** @returns the scalar of an event; an empty one is placed at `end` */
export function readScalar(event: ScalarEvent, source: SourceText, end: number): ScalarNode {
  const style = STYLES[event.style];
  const text = getScalarValue(source.text, event);
  const content =
    event.valueStart < 0 ? { start: end, end } : { start: event.valueStart, end: event.valueEnd };
  const quotes = style === "single-quoted" || style === "double-quoted" ? 1 : 0;
  return {
    kind: "scalar",
    source,
    style,
    value: style === "plain" ? resolvePlain(text) : text,
    text,
    content,
    indent: event.indent,
    keepsBreaks: event.chomping === CHOMPING_MODE.KEEP,
    start: content.start - quotes,
    end: content.end + quotes,
  };
}

/** @returns the value of a plain scalar by the core schema */
export function resolvePlain(text: string): ScalarNode["value"] {
  for (const tag of CORE_TAGS) {
    const value = tag.resolve(text, false, tag.tagName);
    if (value !== NOT_RESOLVED) return value;
  }
  return text;
}
