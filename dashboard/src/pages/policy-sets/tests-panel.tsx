import type { CaseView, Tested } from "../../core/protocol.ts";
import type { LongState } from "../../editor/use-core.ts";
import { editor as texts } from "../../messages/editor.ts";
import { messages } from "../../messages/index.ts";

interface Place {
  readonly file: string;
  readonly line: number;
}

interface TestsPanelProps {
  readonly state: LongState<"test">;
  /** The results are about what is in the editor. */
  readonly isCurrent: boolean;
  readonly hasSuites: boolean;
  readonly cancel: () => void;
  readonly goTo: (place: Place) => void;
}

/** The results of the tests, each failure with its explanation, and what they do not show. */
export function TestsPanel({ state, isCurrent, hasSuites, cancel, goTo }: TestsPanelProps) {
  return (
    <div class="card">
      <h2>{hasSuites || state.kind === "done" ? texts.results : texts.noSuites}</h2>
      {!hasSuites && state.kind !== "done" && <p class="quiet">{texts.noSuitesText}</p>}
      {state.kind === "running" && <Running done={state.done} total={state.total} cancel={cancel} />}
      {state.kind === "failed" && (
        <p class="problem" role="alert">
          {state.failure}
        </p>
      )}
      {state.kind === "done" && (
        <>
          {!isCurrent && <p class="notice">{texts.outdated}</p>}
          <Results result={state.result} goTo={goTo} />
        </>
      )}
    </div>
  );
}

/** How far a long task is, with a way out. */
export function Running({
  done,
  total,
  cancel,
}: {
  readonly done: number;
  readonly total: number;
  readonly cancel: () => void;
}) {
  return (
    <div class="row" role="group">
      <progress
        aria-label={texts.running(done, total)}
        max={Math.max(total, 1)}
        value={total === 0 ? undefined : done}
      />
      <span>{total > 0 && texts.running(done, total)}</span>
      <button type="button" onClick={cancel}>
        {messages.cancel}
      </button>
    </div>
  );
}

function Results({ result, goTo }: { readonly result: Tested; readonly goTo: (place: Place) => void }) {
  const gaps = result.coverage.filter(({ gap }) => gap !== "");
  const cases = result.suites.flatMap((suite) => suite.cases);
  if (result.suites.length === 0) return <p class="problem">{texts.invalidTests}</p>;
  const failed = cases.filter(({ ok }) => !ok).length;
  return (
    <>
      <p role="status">
        <span class={`badge ${failed === 0 ? "good" : "bad"}`}>
          {texts.passed(cases.length - failed, failed)}
        </span>
      </p>
      {result.suites.map(({ file, cases: all }) => (
        <ul key={file} class="problems">
          {all
            .filter(({ ok }) => !ok)
            .map((one) => (
              <FailedCase key={`${one.line} ${one.name}`} file={file} one={one} goTo={goTo} />
            ))}
        </ul>
      ))}
      <details open={failed === 0}>
        <summary>
          {texts.gaps} ({gaps.length})
        </summary>
        {gaps.length === 0 && <p>{texts.noGaps}</p>}
        <ul class="problems">
          {gaps.map((one) => (
            <li key={one.id}>
              <button
                type="button"
                onClick={() => {
                  goTo(one);
                }}
              >
                <code>
                  {one.file}:{one.line}
                </code>{" "}
                {one.id}: {one.gap}{" "}
                <span class="quiet">({texts.counts(one.true, one.false, one.unknown)})</span>
              </button>
            </li>
          ))}
        </ul>
      </details>
    </>
  );
}

interface FailedCaseProps {
  readonly file: string;
  readonly one: CaseView;
  readonly goTo: (place: Place) => void;
}

function FailedCase({ file, one, goTo }: FailedCaseProps) {
  return (
    <li>
      <button
        type="button"
        onClick={() => {
          goTo({ file, line: one.line });
        }}
      >
        <strong>{one.name}</strong> <code>{`${file}:${one.line}`}</code>
      </button>
      <p>
        {texts.expected}: {one.expected}
        <br />
        {texts.actual}: {one.actual}
      </p>
      {one.differences.map((line) => (
        <p key={line} class="problem">
          {line}
        </p>
      ))}
      {one.explanation !== undefined && (
        <pre tabIndex={0} aria-label={`${one.name}: ${texts.actual}`} role="region">
          {one.explanation}
        </pre>
      )}
    </li>
  );
}
