import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics, type Diagnostic as Shown } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, type Extension } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import { useEffect, useRef } from "preact/hooks";
import type { Diagnostic } from "../core/protocol.ts";
import { editor as texts } from "../messages/editor.ts";
import { completePolicies, type KnownNames } from "./complete.ts";
import { coverageGutter, setCoverage, type LineCoverage } from "./coverage-gutter.ts";
import { highlightConditions } from "./highlight-conditions.ts";
import { placeIn } from "./shadow.ts";

export interface Target {
  readonly line: number;
  readonly column: number;
}

interface EditorProps {
  /** The file; another one replaces the whole state, undo included. */
  readonly name: string;
  readonly text: string;
  /** Counts changes from outside. What the editor itself has reported comes back late, and must not replace newer text. */
  readonly revision: number;
  readonly label: string;
  readonly readOnly: boolean;
  readonly diagnostics: readonly Diagnostic[];
  readonly coverage: readonly LineCoverage[];
  readonly known: KnownNames;
  /** Where to go; a new object goes there again. */
  readonly target: Target | undefined;
  readonly onChange: (text: string) => void;
}

/** How all editors look and speak. */
export const APPEARANCE: Extension = [
  EditorView.lineWrapping,
  syntaxHighlighting(classHighlighter),
  yaml(),
  highlightConditions,
];

/** A file in an editor. Tab leaves it, so people who use only the keyboard are not trapped. */
export function CodeEditor(props: EditorProps) {
  const { name, text, revision, label, readOnly, diagnostics, coverage, target } = props;
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>();
  const latest = useRef(props);
  latest.current = props;
  const locked = useRef(new Compartment());
  useEffect(() => {
    if (place.current === null) return undefined;
    const made = new EditorView({
      ...placeIn(place.current, "source"),
      state: EditorState.create({
        doc: latest.current.text,
        extensions: [
          ...extensionsOf(() => latest.current),
          EditorView.contentAttributes.of({ "aria-label": label }),
          locked.current.of(lock(latest.current.readOnly)),
        ],
      }),
    });
    view.current = made;
    return () => {
      made.destroy();
      view.current = undefined;
    };
  }, [name, label]);
  useEffect(() => {
    view.current?.dispatch({ effects: locked.current.reconfigure(lock(readOnly)) });
  }, [readOnly, name]);
  useEffect(() => {
    const { current } = view;
    if (current === undefined || current.state.doc.toString() === text) return;
    current.dispatch({ changes: { from: 0, to: current.state.doc.length, insert: text } });
  }, [revision, name]);
  useEffect(() => {
    const { current } = view;
    if (current === undefined) return;
    current.dispatch(
      setDiagnostics(
        current.state,
        diagnostics.map((one) => shownIn(current.state, one)),
      ),
    );
  }, [diagnostics, name]);
  useEffect(() => {
    view.current?.dispatch({ effects: setCoverage.of(coverage) });
  }, [coverage, name]);
  useEffect(() => {
    const { current } = view;
    if (current === undefined || target === undefined) return;
    const anchor = offsetOf(current.state, target.line, target.column);
    current.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: "center" }) });
    current.focus();
  }, [target]);
  return (
    <>
      <div class="editor" ref={place} />
      <p class="hint">{texts.keys}</p>
    </>
  );
}

function lock(readOnly: boolean): Extension {
  return [
    EditorState.readOnly.of(readOnly),
    EditorView.contentAttributes.of({ "aria-readonly": String(readOnly) }),
  ];
}

function extensionsOf(props: () => EditorProps): Extension[] {
  return [
    lineNumbers(),
    APPEARANCE,
    history(),
    drawSelection(),
    indentUnit.of("  "),
    bracketMatching(),
    closeBrackets(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    highlightSelectionMatches(),
    search({ top: true }),
    lintGutter(),
    coverageGutter,
    autocompletion({ override: [completePolicies(() => props().known)], icons: false }),
    keymap.of([
      ...closeBracketsKeymap,
      ...completionKeymap,
      ...lintKeymap,
      ...searchKeymap,
      ...historyKeymap,
      ...defaultKeymap,
    ]),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) props().onChange(update.state.doc.toString());
    }),
  ];
}

function offsetOf({ doc }: EditorState, line: number, column: number): number {
  const at = doc.line(Math.min(Math.max(line, 1), doc.lines));
  return Math.min(at.from + column - 1, at.to);
}

function shownIn(
  state: EditorState,
  { severity, code, message, hint, line, column, length }: Diagnostic,
): Shown {
  const from = offsetOf(state, line, column);
  const { to: end } = state.doc.lineAt(from);
  return {
    from,
    to: Math.min(from + length, end),
    severity,
    source: code,
    message: hint === undefined ? message : `${message}\n${hint}`,
  };
}
