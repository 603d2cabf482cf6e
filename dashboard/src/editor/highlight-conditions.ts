import { RangeSetBuilder } from "@codemirror/state";
import {
  Decoration,
  ViewPlugin,
  type DecorationSet,
  type EditorView,
  type ViewUpdate,
} from "@codemirror/view";
import { STRING_METHODS } from "../../../src/policy/ir.ts";
import { BASE_ROOTS, KEYWORDS } from "../../../src/policy/roots.ts";
import { isInCondition } from "./place.ts";

const TOKEN = /"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\d+(?:\.\d+)?|[A-Za-z_]\w*|[=!<>]=|[<>]/g;
const METHODS: readonly string[] = ["includes", ...STRING_METHODS];
/** How far above the visible part a block can begin. */
const LINES_ABOVE = 100;

const mark = (name: string) => Decoration.mark({ class: `cond-${name}` });
const MARKS = {
  keyword: mark("keyword"),
  method: mark("method"),
  root: mark("root"),
  string: mark("string"),
  number: mark("number"),
  operator: mark("operator"),
};

function kindOf(token: string, before: string): keyof typeof MARKS | undefined {
  if (/^["']/.test(token)) return "string";
  if (/^\d/.test(token)) return "number";
  if (/^[=!<>]/.test(token)) return "operator";
  if (before.endsWith(".")) return METHODS.includes(token) ? "method" : undefined;
  if (KEYWORDS.has(token)) return "keyword";
  return BASE_ROOTS.includes(token) ? "root" : undefined;
}

/** Colours the words of conditions in the visible part. */
export const highlightConditions = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;
    constructor(view: EditorView) {
      this.decorations = decorate(view);
    }
    update(update: ViewUpdate) {
      if (update.docChanged || update.viewportChanged) this.decorations = decorate(update.view);
    }
  },
  { decorations: ({ decorations }) => decorations },
);

function decorate({ state: { doc }, visibleRanges }: EditorView): DecorationSet {
  const builder = new RangeSetBuilder<Decoration>();
  for (const { from, to } of visibleRanges) {
    const [first, last] = [doc.lineAt(from).number, doc.lineAt(to).number];
    const above = Math.max(1, first - LINES_ABOVE);
    const lines = [...doc.iterLines(above, last + 1)];
    for (let number = first; number <= last; number++) {
      const line = doc.line(number);
      const until = lines.slice(0, number - above + 1);
      if (!/\S/.test(line.text) || !isInCondition(until)) continue;
      // a whole condition in quotes is YAML's string, and not the language's
      const [head = ""] = /^\s*(?:- +)*(?:condition\s*:\s*["']?)?/.exec(line.text) ?? [];
      for (const found of line.text.slice(head.length).matchAll(TOKEN)) {
        const start = head.length + found.index;
        const kind = kindOf(found[0], line.text.slice(0, start));
        if (kind !== undefined)
          builder.add(line.from + start, line.from + start + found[0].length, MARKS[kind]);
      }
    }
  }
  return builder.finish();
}
