import type { Checked, Diagnostic } from "../../core/protocol.ts";
import { editor as texts } from "../../messages/editor.ts";

interface ProblemsProps {
  readonly found: readonly Diagnostic[];
  readonly checked: Checked | undefined;
  readonly busy: boolean;
  readonly failure: string | undefined;
  readonly goTo: (place: Diagnostic) => void;
}

/** Everything that the compiler finds, in all files. */
export function Problems({ found, checked, busy, failure, goTo }: ProblemsProps) {
  const errors = found.filter(({ severity }) => severity === "error").length;
  const { set } = checked ?? {};
  return (
    <div class="card" aria-busy={busy && failure === undefined}>
      <h2 role="status">
        {failure !== undefined
          ? texts.failedToCheck
          : checked === undefined
            ? texts.checking
            : found.length === 0
              ? texts.noProblems
              : texts.problems(errors, found.length - errors)}
      </h2>
      {failure !== undefined && <p class="problem">{failure}</p>}
      {checked && (
        <p class="quiet">{set ? texts.valid(`${set.name}@${set.version}`, set.rules) : texts.invalid}</p>
      )}
      {found.length > 0 && (
        <ul class="problems">
          {found.map((one, index) => {
            const place = `${one.file}:${one.line}:${one.column}`;
            return (
              <li key={`${place} ${one.code} ${index}`}>
                <button
                  type="button"
                  aria-label={`${texts.goTo(place)}: ${one.message}`}
                  onClick={() => {
                    goTo(one);
                  }}
                >
                  <span class={`badge ${one.severity === "error" ? "bad" : ""}`}>{texts[one.severity]}</span>{" "}
                  <code>{place}</code> {one.message} <span class="quiet">[{one.code}]</span>
                </button>
                {one.hint !== undefined && <p class="hint">{one.hint}</p>}
              </li>
            );
          })}
        </ul>
      )}
    </div>
  );
}
