import { useEffect, useState } from "preact/hooks";
import { ask, cancelTasks } from "../../core/ask.ts";
import {
  EMPTY_EXAMPLE,
  type Example,
  type ExampleField,
  type ExplainGiven,
} from "../../core/explain-protocol.ts";
import { fragmentOf, readFragment, withoutSecrets, type ChosenSet } from "../../explain/link.ts";
import { messages } from "../../messages/index.ts";
import { Page } from "../../shell.tsx";
import { announce, Failure, Loading } from "../../ui/parts.tsx";
import { useUrlState } from "../../ui/url-state.ts";
import { ExampleForm } from "./example-form.tsx";
import { PasteRequest } from "./paste-request.tsx";
import { RecordBanner, useRecord } from "./from-record.tsx";
import { Result } from "./result.tsx";
import { loadSet, SetChooser } from "./set-chooser.tsx";
import "./explain.css";

const texts = messages.explain;

type State =
  | { readonly kind: "idle" }
  | { readonly kind: "running" }
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "done"; readonly given: ExplainGiven };

/** How a request would be decided, or was, and why. */
export function Explain() {
  const { values } = useUrlState();
  const decision = values["decision"];
  const hash = useFragment();
  const recorded = useRecord(decision, values["with"] === "active" ? "active" : "deciding");
  if (recorded?.failure)
    return (
      <Page title={texts.title}>
        <Failure failure={recorded.failure} retry={recorded.reload} />
      </Page>
    );
  if (decision !== undefined && recorded?.found === undefined)
    return (
      <Page title={texts.title}>
        <Loading />
      </Page>
    );
  const shared = decision === undefined ? readFragment(hash) : undefined;
  return (
    <Page title={texts.title}>
      <p class="quiet">{texts.lead}</p>
      <Playground
        key={`${decision ?? ""}/${values["with"] ?? ""}/${hash}`}
        start={recorded?.found?.example ?? shared?.example ?? EMPTY_EXAMPLE}
        set={recorded?.found?.set ?? shared?.set}
        recorded={recorded?.found}
        runAtOnce={recorded?.found?.set !== undefined || (shared !== undefined && shared.example.line !== "")}
      />
    </Page>
  );
}

interface PlaygroundProps {
  readonly start: Example;
  readonly set: ChosenSet | undefined;
  readonly recorded: NonNullable<ReturnType<typeof useRecord>>["found"];
  readonly runAtOnce: boolean;
}

function Playground({ start, set, recorded, runAtOnce }: PlaygroundProps) {
  const [example, setExample] = useState(start);
  const [chosen, setChosen] = useState(set);
  const [state, setState] = useState<State>({ kind: "idle" });
  const run = async (with_: ChosenSet | undefined) => {
    if (with_ === undefined || state.kind === "running") return;
    setState({ kind: "running" });
    try {
      const source = await loadSet(with_);
      const given = await ask("explain", {
        set: source,
        example,
        ...(recorded && { record: recorded.record }),
      });
      setState({ kind: "done", given });
      if (recorded === undefined) keep(example, with_);
    } catch (error) {
      setState({ kind: "failed", message: error instanceof Error ? error.message : String(error) });
    }
  };
  useEffect(() => {
    if (runAtOnce) void run(chosen);
  }, []);
  const invalid =
    state.kind === "done" && state.given.kind === "invalid_example"
      ? { field: state.given.field, message: state.given.message }
      : undefined;
  return (
    <div class="explain">
      <div>
        {recorded ? (
          <RecordBanner recorded={recorded} />
        ) : (
          <PasteRequest
            onRead={(fields) => {
              setExample((before) => ({ ...before, ...fields }));
            }}
          />
        )}
        <form
          noValidate
          class="card"
          onSubmit={(event) => {
            event.preventDefault();
            void run(chosen);
          }}
        >
          <SetChooser chosen={chosen} onChange={setChosen} />
          <ExampleForm
            example={example}
            invalid={invalid}
            onChange={(field: ExampleField, value: string) => {
              setExample((before) => ({ ...before, [field]: value }));
            }}
          />
          <div class="row">
            <button
              type="submit"
              class="main"
              aria-disabled={state.kind === "running"}
              disabled={chosen === undefined}
            >
              {texts.submit}
            </button>
            {state.kind === "running" && (
              <button type="button" onClick={cancelTasks}>
                {texts.cancel}
              </button>
            )}
            <CopyLink example={example} set={chosen} />
          </div>
        </form>
      </div>
      <section class="explained" aria-labelledby="explained" aria-busy={state.kind === "running"}>
        <h2 id="explained">{texts.result}</h2>
        {state.kind === "idle" && <p class="state quiet">{texts.nothing}</p>}
        {state.kind === "running" && (
          <p class="state quiet" role="status">
            {texts.running}
          </p>
        )}
        {state.kind === "failed" && (
          <div class="state" role="alert">
            <h3>{texts.failed}</h3>
            <p>{state.message}</p>
          </div>
        )}
        {state.kind === "done" && <Result given={state.given} recorded={recorded} />}
      </section>
    </div>
  );
}

/** What stands after `#` in the address, as it was opened: another link may be followed from this page to itself. */
function useFragment(): string {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const follow = () => {
      setHash(location.hash);
    };
    addEventListener("hashchange", follow);
    return () => {
      removeEventListener("hashchange", follow);
    };
  }, []);
  return hash;
}

/** A reload shows the same, as far as the address may hold it. */
function keep(example: Example, set: ChosenSet): void {
  const { shared } = withoutSecrets({ example, set });
  history.replaceState(history.state, "", `${location.pathname}#${fragmentOf(shared)}`);
}

function CopyLink({ example, set }: { readonly example: Example; readonly set: ChosenSet | undefined }) {
  const [leftOut, setLeftOut] = useState<readonly string[]>();
  const copy = async () => {
    const safe = withoutSecrets({ example, ...(set && { set }) });
    setLeftOut(safe.leftOut);
    try {
      await navigator.clipboard.writeText(`${location.origin}/explain#${fragmentOf(safe.shared)}`);
      announce(messages.copied);
    } catch {
      announce(messages.notCopied);
    }
  };
  return (
    <>
      <button type="button" onClick={() => void copy()}>
        {texts.link}
      </button>
      {leftOut !== undefined && (
        <span class="quiet">
          {leftOut.length === 0 ? texts.linkSafe : texts.linkHint(leftOut.join(", "))}
        </span>
      )}
    </>
  );
}
