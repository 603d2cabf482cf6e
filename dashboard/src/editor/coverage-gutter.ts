import { RangeSet, StateEffect, StateField, type Extension } from "@codemirror/state";
import { gutter, GutterMarker } from "@codemirror/view";
import { editor as texts } from "../messages/editor.ts";

/** What tests show of the conditions on a line of the file. */
export interface LineCoverage {
  readonly line: number;
  readonly covered: "all" | "some" | "none";
  readonly text: string;
}

class CoverageMarker extends GutterMarker {
  readonly #of: LineCoverage;

  constructor(of: LineCoverage) {
    super();
    this.#of = of;
  }

  override toDOM(): Node {
    const mark = document.createElement("span");
    mark.className = `coverage ${this.#of.covered}`;
    mark.textContent = { all: "●", some: "◐", none: "○" }[this.#of.covered];
    mark.title = this.#of.text;
    return mark;
  }
}

export const setCoverage = StateEffect.define<readonly LineCoverage[]>();

const coverage = StateField.define<RangeSet<GutterMarker>>({
  create: () => RangeSet.empty,
  update(markers, transaction) {
    let next = markers.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (!effect.is(setCoverage)) continue;
      const { doc } = transaction.state;
      next = RangeSet.of(
        effect.value
          .filter(({ line }) => line >= 1 && line <= doc.lines)
          .map((one) => new CoverageMarker(one).range(doc.line(one.line).from)),
        true,
      );
    }
    return next;
  },
});

/** What the last run of the tests showed, in the margin. Lists beside the editor have the same as text. */
export const coverageGutter: Extension = [
  coverage,
  gutter({
    class: "cm-coverage",
    markers: (view) => view.state.field(coverage),
    renderEmptyElements: false,
    initialSpacer: () => new CoverageMarker({ line: 1, covered: "all", text: texts.coverage }),
  }),
];
