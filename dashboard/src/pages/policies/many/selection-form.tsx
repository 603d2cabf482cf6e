import { useState } from "preact/hooks";
import { ApiFailure } from "../../../api/client.ts";
import { useAction } from "../../../api/use-action.ts";
import { useQuery } from "../../../api/use-query.ts";
import { many as texts } from "../../../messages/many.ts";
import { Field, FormFailure } from "../../../ui/parts.tsx";
import type { Policy } from "../form.tsx";
import { Chooser } from "./chooser.tsx";
import { ACTIONS, KINDS, STATUSES, type Selection } from "./selection.ts";
import { ConfirmStart, start } from "./start.tsx";

interface SelectionFormProps {
  readonly policy: Policy;
  readonly selection: Selection;
  readonly select: (selection: Selection) => void;
  readonly onStarted: (id: string) => void;
}

/** What to do, and for which customers. Enter previews; what changes something is asked about first. */
export function SelectionForm({ policy, selection, select, onStarted }: SelectionFormProps) {
  const { run, busy, failure } = useAction();
  const [isStarting, setStarting] = useState(false);
  const [isEmpty, setEmpty] = useState(false);
  const { action, of, status, chosen } = selection;
  const change = (changes: Partial<Selection>) => {
    setEmpty(false);
    // a preview is of other customers then
    select({ ...selection, preview: undefined, ...changes });
  };
  const whenChosen = (then: () => void) => {
    const nobody = of === "ids" && chosen.length === 0;
    setEmpty(nobody);
    if (!nobody) then();
  };
  const preview = () =>
    run(async () => {
      const { id } = await start(policy, selection, "preview");
      select({ ...selection, preview: id });
      onStarted(id);
    });
  const begin = () => {
    setStarting(true);
  };
  return (
    <>
      <form
        class="card"
        noValidate
        aria-label={texts.title}
        onSubmit={(event) => {
          event.preventDefault();
          whenChosen(action === "assign" ? () => void preview() : begin);
        }}
      >
        <h2>{texts.title}</h2>
        <p class="quiet">{texts.about}</p>
        <div class="filters">
          <Field name="action" label={texts.action} failure={failure}>
            {(given) => (
              <select
                {...given}
                value={action}
                onChange={({ currentTarget: { value } }) => {
                  change({ action: ACTIONS.find((one) => one === value) ?? action });
                }}
              >
                {ACTIONS.map((one) => (
                  <option key={one} value={one}>
                    {texts.actions[one]}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <Field name="of" label={texts.whom}>
            {(given) => (
              <select
                {...given}
                value={of}
                onChange={({ currentTarget: { value } }) => {
                  change({ of: KINDS.find((one) => one === value) ?? of });
                }}
              >
                {KINDS.map((one) => (
                  <option key={one} value={one}>
                    {texts.selections[one]}
                  </option>
                ))}
              </select>
            )}
          </Field>
          {of === "status" && (
            <Field name="status" label={texts.status} hint={texts.statusHint} failure={failure}>
              {(given) => (
                <select
                  {...given}
                  value={status}
                  onChange={({ currentTarget: { value } }) => {
                    change({ status: STATUSES.find((one) => one === value) ?? status });
                  }}
                >
                  {STATUSES.map((one) => (
                    <option key={one} value={one}>
                      {one}
                    </option>
                  ))}
                </select>
              )}
            </Field>
          )}
        </div>
        {of === "ids" ? (
          <Chooser
            chosen={chosen}
            onChange={(next) => {
              change({ chosen: next });
            }}
          />
        ) : (
          <Count status={of === "status" ? status : undefined} />
        )}
        {isEmpty && (
          <p class="problem" role="alert">
            {texts.nothingChosen}
          </p>
        )}
        <FormFailure failure={failure && named(failure, selection)} fields={["action", "status"]} />
        {action === "assign" && <p class="hint">{texts.previewHint}</p>}
        <div class="row">
          {action === "assign" && (
            <button type="submit" class="main" aria-disabled={busy}>
              {texts.preview}
            </button>
          )}
          <button
            type={action === "assign" ? "button" : "submit"}
            class="danger"
            onClick={
              action === "assign"
                ? () => {
                    whenChosen(begin);
                  }
                : undefined
            }
          >
            {texts[action]}
          </button>
        </div>
      </form>
      {isStarting && (
        <ConfirmStart
          policy={policy}
          selection={selection}
          onStarted={onStarted}
          onClose={() => {
            setStarting(false);
          }}
        />
      )}
    </>
  );
}

/** The API names a customer by its place in the request; people look for its name. */
function named(failure: ApiFailure, { chosen }: Selection): ApiFailure {
  const fields = failure.fields.map(({ path, message }) => {
    const one = chosen[Number(/^customers\.ids\.(\d+)$/.exec(path)?.[1])];
    return { path: one === undefined ? path : (one.name ?? one.id), message };
  });
  return new ApiFailure(failure.status, failure.code, failure.message, { fields });
}

/** How many customers that are. */
function Count({ status }: { readonly status: Selection["status"] | undefined }) {
  const { answer } = useQuery("/customers", { query: { limit: 1, ...(status && { status }) } });
  return <p role="status">{answer?.pagination && texts.count(answer.pagination.total_items)}</p>;
}
