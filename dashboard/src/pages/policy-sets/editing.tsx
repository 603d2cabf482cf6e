import { useEffect, useMemo, useState } from "preact/hooks";
import { may } from "../../api/client.ts";
import type { Data } from "../../api/types.ts";
import { ask } from "../../core/ask.ts";
import type { CoverageView, SourceSet } from "../../core/protocol.ts";
import { CodeEditor, type Target } from "../../editor/code-editor.tsx";
import type { LineCoverage } from "../../editor/coverage-gutter.ts";
import type { Draft } from "../../editor/drafts.ts";
import { useCheck, useLongTask } from "../../editor/use-core.ts";
import { filesOf, isSuite, useDraft } from "../../editor/use-draft.ts";
import { editor as texts } from "../../messages/editor.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { announce } from "../../ui/parts.tsx";
import { useUrlState } from "../../ui/url-state.ts";
import { ComparePanel } from "./compare-panel.tsx";
import { FilesBar } from "./files-bar.tsx";
import { Problems } from "./problems.tsx";
import { Publish } from "./publish.tsx";
import { TestsPanel } from "./tests-panel.tsx";
import type { LoadedSet } from "./versions.tsx";

export type Published = Data<"/policy-sets/{name}/versions/{version}">;

interface EditingProps {
  readonly name: string;
  readonly set: LoadedSet | undefined;
  readonly active: Published | undefined;
  readonly began: Draft;
  /** The browser keeps it already. */
  readonly isKept: boolean;
  readonly onDiscarded: () => void;
  readonly onPublished: () => void;
}

const NOTHING: readonly never[] = [];

/** The editor of a set, with everything beside it. */
export function Editing({ name, set, active, began, isKept, onDiscarded, onPublished }: EditingProps) {
  const url = useUrlState();
  const open = useDraft(name, began, isKept);
  const { draft, changed, tooLarge, write } = open;
  const all = filesOf(draft);
  const [selected, setSelected] = useState(all[0]?.name ?? "");
  const file = all.find((one) => one.name === selected) ?? all[0];
  const source = useMemo<SourceSet>(() => ({ name, files: draft.files }), [name, draft.files]);
  const before = useMemo<SourceSet | undefined>(
    () => (active ? { name, files: active.files } : undefined),
    [name, active],
  );
  const { checked, busy, failure } = useCheck(source);
  const tests = useLongTask("test");
  const comparison = useLongTask("compare");
  const [target, setTarget] = useState<{ readonly file: string; readonly at: Target }>();
  const [dialog, setDialog] = useState<"publish" | "discard">();
  const tested = tests.state.kind === "done" ? tests.state.result : undefined;
  const found = useMemo(
    () => [
      ...(checked?.diagnostics ?? []),
      ...(tested?.diagnostics ?? []).filter((one) => isSuite(one.file)),
    ],
    [checked, tested],
  );
  const compare = () => {
    if (before && comparison.state.kind !== "running") void comparison.run({ before, after: source });
  };
  useEffect(() => {
    if (url.values["compare"] === "1") compare();
  }, []);
  const goTo = (place: { readonly file: string; readonly line: number; readonly column?: number }) => {
    setSelected(place.file);
    setTarget({ file: place.file, at: { line: place.line, column: place.column ?? 1 } });
  };
  const format = async () => {
    if (file === undefined) return;
    const { text } = await ask("format", file);
    announce(
      text === undefined ? texts.notFormatted : text === file.text ? texts.formattedAlready : texts.formatted,
    );
    if (text !== undefined && text !== file.text) open.replace(file.name, text);
  };
  const coverage = useMemo(() => linesOf(tested?.coverage ?? [], file?.name), [tested, file?.name]);
  const shown = useMemo(() => found.filter((one) => one.file === file?.name), [found, file?.name]);
  const known = useMemo(() => ({ reads: checked?.set?.reads ?? NOTHING }), [checked]);
  const close = () => {
    setDialog(undefined);
  };
  return (
    <>
      <p class="notice" role={tooLarge ? "alert" : undefined}>
        {tooLarge ? texts.draftTooLarge : noticeOf(draft, changed)} {!may("configure") && texts.readOnly}
      </p>
      <FilesBar
        files={all}
        selected={file?.name}
        select={setSelected}
        write={open.replace}
        remove={open.remove}
      />
      <div class="bar">
        <div class="row">
          <button type="button" onClick={() => void format()} disabled={!file || !/\.ya?ml$/.test(file.name)}>
            {texts.format}
          </button>
          <button
            type="button"
            aria-disabled={tests.state.kind === "running"}
            disabled={draft.suites.length === 0}
            onClick={() => {
              if (tests.state.kind !== "running") void tests.run({ set: source, suites: draft.suites });
            }}
          >
            {texts.run}
          </button>
          <button
            type="button"
            aria-disabled={comparison.state.kind === "running"}
            disabled={!before}
            onClick={compare}
          >
            {texts.compare}
          </button>
        </div>
        <div class="row">
          {changed && (
            <button
              type="button"
              onClick={() => {
                setDialog("discard");
              }}
            >
              {texts.discard}
            </button>
          )}
          {may("configure") && (
            <button
              type="button"
              class="main"
              disabled={checked?.set === undefined || busy}
              onClick={() => {
                setDialog("publish");
              }}
            >
              {texts.publish}
            </button>
          )}
        </div>
      </div>
      {file && (
        <CodeEditor
          name={file.name}
          text={file.text}
          revision={open.revision}
          label={texts.label(file.name)}
          readOnly={false}
          diagnostics={shown}
          coverage={coverage}
          known={known}
          target={target?.file === file.name ? target.at : undefined}
          onChange={(text) => {
            write(file.name, text);
          }}
        />
      )}
      <Problems found={found} checked={checked} busy={busy} failure={failure} goTo={goTo} />
      <TestsPanel
        state={tests.state}
        isCurrent={
          tests.state.kind === "done" &&
          tests.state.of.set === source &&
          tests.state.of.suites === draft.suites
        }
        hasSuites={draft.suites.length > 0}
        cancel={tests.cancel}
        goTo={goTo}
      />
      <ComparePanel
        state={comparison.state}
        isCurrent={comparison.state.kind === "done" && comparison.state.of.after === source}
        before={active}
        after={draft.files}
        cancel={comparison.cancel}
      />
      {dialog === "discard" && (
        <Confirm
          title={texts.discard}
          text={texts.discardText}
          action={texts.discard}
          danger
          done={texts.discarded}
          onConfirm={() => {
            open.discard();
            onDiscarded();
            return Promise.resolve();
          }}
          onClose={close}
        />
      )}
      {dialog === "publish" && checked?.set && (
        <Publish
          name={name}
          open={open}
          compiled={checked.set}
          set={set}
          active={active}
          onPublished={onPublished}
          onClose={close}
        />
      )}
    </>
  );
}

function noticeOf({ basedOn }: Draft, changed: boolean): string {
  if (basedOn === null) return texts.draftNew;
  return changed ? texts.draft(basedOn) : texts.unchanged(basedOn);
}

/** Several conditions may stand on one line: the least covered one tells. */
function linesOf(coverage: readonly CoverageView[], file: string | undefined): readonly LineCoverage[] {
  const byLine = Map.groupBy(
    coverage.filter((one) => one.file === file),
    ({ line }) => line,
  );
  return [...byLine].map(([line, all]) => ({
    line,
    covered: all.every(({ gap }) => gap === "")
      ? "all"
      : all.every((one) => one.true + one.false + one.unknown === 0)
        ? "none"
        : "some",
    text: all
      .map(
        (one) => `${one.id}: ${one.gap || texts.covered} (${texts.counts(one.true, one.false, one.unknown)})`,
      )
      .join("\n"),
  }));
}
