import type { ChangeView, PolicyFile, WitnessView } from "../../core/protocol.ts";
import { TextDifference } from "../../editor/text-difference.tsx";
import type { LongState } from "../../editor/use-core.ts";
import { editor as texts } from "../../messages/editor.ts";
import { Running } from "./tests-panel.tsx";
import type { Published } from "./editing.tsx";

interface ComparePanelProps {
  readonly state: LongState<"compare">;
  readonly isCurrent: boolean;
  readonly before: Published | undefined;
  readonly after: readonly PolicyFile[];
  readonly cancel: () => void;
}

/** What the draft means beside the active version. */
export function ComparePanel({ state, isCurrent, before, after, cancel }: ComparePanelProps) {
  if (state.kind === "idle" || before === undefined) return null;
  return (
    <div class="card">
      <h2>{texts.comparedTitle(before.version)}</h2>
      {state.kind === "done" && !isCurrent && <p class="notice">{texts.outdated}</p>}
      <Meaning state={state} cancel={cancel} />
      {state.kind === "done" && <TextChanges before={before.files} after={after} />}
    </div>
  );
}

/** Each rule that differs, with a request that shows it. */
export function Meaning({
  state,
  cancel,
}: {
  readonly state: LongState<"compare">;
  readonly cancel: () => void;
}) {
  if (state.kind === "idle") return null;
  if (state.kind === "running") return <Running done={state.done} total={state.total} cancel={cancel} />;
  if (state.kind === "failed")
    return (
      <p class="problem" role="alert">
        {state.failure}
      </p>
    );
  const { changes, diagnostics } = state.result;
  if (diagnostics.length > 0) return <p class="problem">{texts.invalid}</p>;
  return (
    <>
      <p role="status">{changes.length === 0 ? texts.sameMeaning : `${texts.meaning}: ${changes.length}`}</p>
      {changes.map((change) => (
        <Change key={`${change.section} ${change.place} ${change.resource}`} change={change} />
      ))}
    </>
  );
}

function Change({
  change: { change, resource, place, notes, gained, lost },
}: {
  readonly change: ChangeView;
}) {
  const kind = change === "narrower" || change === "equivalent" ? "" : "bad";
  return (
    <div class="change">
      <p>
        <span class={`badge ${kind}`}>{texts.changes[change]}</span> <code>{resource}</code>{" "}
        <span class="quiet">{place}</span>
      </p>
      {notes.map((note) => (
        <p key={note} class="hint">
          {note}
        </p>
      ))}
      {gained && <Witness title={texts.onlyAfter} witness={gained} />}
      {lost && <Witness title={texts.onlyBefore} witness={lost} />}
    </div>
  );
}

function Witness({ title, witness }: { readonly title: string; readonly witness: WitnessView }) {
  const { request, attributes, before, after } = witness;
  return (
    <details>
      <summary>
        {title}: <code>{request === "" ? attributes.replaceAll(/\s+/g, " ") : request}</code>
      </summary>
      <div class="sides">
        <pre tabIndex={0} role="region" aria-label={texts.attributes}>
          {attributes}
        </pre>
        {before !== undefined && (
          <pre tabIndex={0} role="region" aria-label={texts.before}>
            {`${texts.before}\n${before}`}
          </pre>
        )}
        {after !== undefined && (
          <pre tabIndex={0} role="region" aria-label={texts.after}>
            {`${texts.after}\n${after}`}
          </pre>
        )}
      </div>
    </details>
  );
}

interface TextChangesProps {
  readonly before: readonly PolicyFile[];
  readonly after: readonly PolicyFile[];
}

/** The files that differ, line by line. */
export function TextChanges({ before, after }: TextChangesProps) {
  const names = [...new Set([...before, ...after].map(({ name }) => name))];
  const textIn = (files: readonly PolicyFile[], name: string) =>
    files.find((one) => one.name === name)?.text ?? "";
  const changed = names.filter((name) => textIn(before, name) !== textIn(after, name));
  return (
    <>
      <h3>{texts.textual}</h3>
      {changed.length === 0 && <p>{texts.sameText}</p>}
      {changed.map((name) => (
        <div key={name}>
          <p class="quiet">{name}</p>
          <TextDifference before={textIn(before, name)} after={textIn(after, name)} label={name} />
        </div>
      ))}
    </>
  );
}
