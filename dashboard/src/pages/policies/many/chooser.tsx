import { useState } from "preact/hooks";
import { useQuery } from "../../../api/use-query.ts";
import { many as texts } from "../../../messages/many.ts";
import { Field } from "../../../ui/parts.tsx";
import type { Chosen } from "./selection.ts";

const FOUND_AT_ONCE = 10;
/** There may be thousands that were pasted. */
const LISTED = 50;

interface ChooserProps {
  readonly chosen: readonly Chosen[];
  readonly onChange: (chosen: readonly Chosen[]) => void;
}

/** Chooses customers by name, which the server looks up, or by id. */
export function Chooser({ chosen, onChange }: ChooserProps) {
  const add = (more: readonly Chosen[]) => {
    const known = new Set(chosen.map(({ id }) => id));
    onChange([...chosen, ...more.filter(({ id }) => !known.has(id))]);
  };
  const drop = (id: string) => {
    onChange(chosen.filter((one) => one.id !== id));
  };
  return (
    <>
      <Search chosen={chosen} add={add} drop={drop} />
      <PasteIds add={add} />
      <section aria-label={texts.chosenTitle}>
        <p role="status">
          <strong>{texts.chosen(chosen.length)}</strong>
        </p>
        {chosen.length > 0 && (
          <>
            <ul class="chosen">
              {chosen.slice(0, LISTED).map(({ id, name = id }) => (
                <li key={id} class="row">
                  <span>{name}</span>
                  <button
                    type="button"
                    aria-label={texts.drop(name)}
                    onClick={() => {
                      drop(id);
                    }}
                  >
                    {texts.dropShort}
                  </button>
                </li>
              ))}
              {chosen.length > LISTED && <li>{texts.andMore(chosen.length - LISTED)}</li>}
            </ul>
            <p>
              <button
                type="button"
                onClick={() => {
                  onChange([]);
                }}
              >
                {texts.removeAll}
              </button>
            </p>
          </>
        )}
      </section>
    </>
  );
}

interface SearchProps {
  readonly chosen: readonly Chosen[];
  readonly add: (more: readonly Chosen[]) => void;
  readonly drop: (id: string) => void;
}

function Search({ chosen, add, drop }: SearchProps) {
  const [typed, setTyped] = useState("");
  const { answer, loading } = useQuery("/customers", {
    query: { name: typed, limit: FOUND_AT_ONCE, sort: "name", order: "asc" },
    off: typed === "",
  });
  const isChosen = new Set(chosen.map(({ id }) => id));
  const found = typed === "" ? undefined : answer;
  return (
    <>
      <Field name="search" label={texts.search}>
        {(given) => (
          <input
            {...given}
            type="search"
            autocomplete="off"
            value={typed}
            onInput={({ currentTarget }) => {
              setTyped(currentTarget.value.trim());
            }}
            // Enter would preview what is not yet chosen
            onKeyDown={(event) => {
              if (event.key === "Enter") event.preventDefault();
            }}
          />
        )}
      </Field>
      {found && (
        <fieldset class="found" aria-busy={loading}>
          <legend>{texts.found}</legend>
          {found.data.length === 0 && <p>{texts.nobody}</p>}
          {found.data.map(({ id, name }) => (
            <label key={id} class="row">
              <input
                type="checkbox"
                class="check"
                checked={isChosen.has(id)}
                onChange={({ currentTarget }) => {
                  if (currentTarget.checked) add([{ id, name }]);
                  else drop(id);
                }}
              />
              <span>{name}</span>
            </label>
          ))}
          {(found.pagination?.total_items ?? 0) > found.data.length && <p class="hint">{texts.more}</p>}
        </fieldset>
      )}
    </>
  );
}

function PasteIds({ add }: { readonly add: (more: readonly Chosen[]) => void }) {
  const [text, setText] = useState("");
  const [wrong, setWrong] = useState("");
  const read = () => {
    const words = text.split(/[\s,;]+/).filter((word) => word !== "");
    const bad = words.filter((word) => !/^cus_\w+$/.test(word));
    setWrong(bad.slice(0, 3).join(", "));
    if (bad.length > 0) return;
    add([...new Set(words)].map((id) => ({ id })));
    setText("");
  };
  return (
    <details>
      <summary>{texts.pasteIds}</summary>
      <Field name="ids" label={texts.ids} hint={texts.idsHint}>
        {(given) => (
          <textarea
            {...given}
            class="code"
            rows={3}
            spellcheck={false}
            aria-invalid={wrong !== ""}
            value={text}
            onInput={({ currentTarget }) => {
              setText(currentTarget.value);
            }}
          />
        )}
      </Field>
      {wrong !== "" && (
        <p class="problem" role="alert">
          {texts.notIds(wrong)}
        </p>
      )}
      <button type="button" onClick={read}>
        {texts.addIds}
      </button>
    </details>
  );
}
