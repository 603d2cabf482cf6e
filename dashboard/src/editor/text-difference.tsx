import { unifiedMergeView } from "@codemirror/merge";
import { EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { useEffect, useRef } from "preact/hooks";
import { APPEARANCE } from "./code-editor.tsx";
import { placeIn } from "./shadow.ts";

interface DifferenceProps {
  readonly before: string;
  readonly after: string;
  readonly label: string;
}

/** What changed between two texts, unchanged parts folded. */
export function TextDifference({ before, after, label }: DifferenceProps) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (place.current === null) return undefined;
    const made = new EditorView({
      ...placeIn(place.current, "difference"),
      state: EditorState.create({
        doc: after,
        extensions: [
          APPEARANCE,
          EditorState.readOnly.of(true),
          EditorView.contentAttributes.of({ "aria-label": label }),
          unifiedMergeView({
            original: before,
            mergeControls: false,
            gutter: false,
            collapseUnchanged: { margin: 3, minSize: 6 },
          }),
        ],
      }),
    });
    return () => {
      made.destroy();
    };
  }, [before, after, label]);
  return <div class="editor" ref={place} />;
}
