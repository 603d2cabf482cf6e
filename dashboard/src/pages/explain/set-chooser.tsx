import { useEffect } from "preact/hooks";
import { call } from "../../api/client.ts";
import { useQuery } from "../../api/use-query.ts";
import type { ExplainAsked } from "../../core/explain-protocol.ts";
import type { ChosenSet } from "../../explain/link.ts";
import { messages } from "../../messages/index.ts";
import { Failure, Field, Loading } from "../../ui/parts.tsx";

const texts = messages.explain;
/** The longest page of a list. */
const MOST = 100;
/** A pasted set is one file of this name. */
const PASTED = "pasted.yaml";

/** The files of a set. A version never changes. */
export async function loadSet(set: ChosenSet): Promise<ExplainAsked["set"]> {
  if (set.kind === "pasted") return { name: "pasted", files: [{ name: PASTED, text: set.text }] };
  const { name, version } = set;
  const { data } = await call("get", "/policy-sets/{name}/versions/{version}", { params: { name, version } });
  return { name, files: data.files, digest: data.digest };
}

interface SetChooserProps {
  readonly chosen: ChosenSet | undefined;
  readonly onChange: (set: ChosenSet | undefined) => void;
}

/** A published version, or one that is pasted. */
export function SetChooser({ chosen, onChange }: SetChooserProps) {
  const sets = useQuery("/policy-sets", { query: { limit: MOST, sort: "name", order: "asc" } });
  const published = chosen?.kind === "published" ? chosen : undefined;
  const first = sets.answer?.data.find(({ active_version: active }) => active !== null);
  const none = sets.answer !== undefined && first === undefined;
  useEffect(() => {
    if (chosen !== undefined) return;
    const version = first?.active_version ?? undefined;
    if (first !== undefined && version !== undefined)
      onChange({ kind: "published", name: first.name, version });
    else if (none) onChange({ kind: "pasted", text: "" });
  }, [chosen, first, none]);
  if (sets.failure) return <Failure failure={sets.failure} retry={sets.reload} />;
  if (!sets.answer) return <Loading />;
  const { data } = sets.answer;
  const active = (name: string) => data.find((set) => set.name === name)?.active_version ?? undefined;
  return (
    <fieldset>
      <legend>{texts.setPart}</legend>
      {none && <p class="quiet">{texts.noSets}</p>}
      {!none && (
        <div class="row">
          {(["published", "pasted"] as const).map((kind) => (
            <label key={kind} class="row">
              <input
                type="radio"
                class="check"
                name="set-kind"
                checked={chosen?.kind === kind}
                onChange={() => {
                  onChange(kind === "pasted" ? { kind, text: "" } : undefined);
                }}
              />
              <span>{texts[kind]}</span>
            </label>
          ))}
        </div>
      )}
      {published && (
        <div class="filters">
          <Field name="set" label={texts.set}>
            {(given) => (
              <select
                {...given}
                value={published.name}
                onChange={({ currentTarget: { value: name } }) => {
                  onChange({ kind: "published", name, version: active(name) ?? "" });
                }}
              >
                {data.map(({ name }) => (
                  <option key={name}>{name}</option>
                ))}
              </select>
            )}
          </Field>
          <Version
            key={published.name}
            chosen={published}
            active={active(published.name)}
            onChange={onChange}
          />
        </div>
      )}
      {chosen?.kind === "pasted" && (
        <Field name="policies" label={texts.pastedSet}>
          {(given) => (
            <textarea
              {...given}
              class="code"
              rows={8}
              spellcheck={false}
              value={chosen.text}
              onInput={({ currentTarget }) => {
                onChange({ kind: "pasted", text: currentTarget.value });
              }}
            />
          )}
        </Field>
      )}
    </fieldset>
  );
}

interface VersionProps {
  readonly chosen: Extract<ChosenSet, { kind: "published" }>;
  readonly active: string | undefined;
  readonly onChange: (set: ChosenSet) => void;
}

function Version({ chosen: { name, version }, active, onChange }: VersionProps) {
  const { answer } = useQuery("/policy-sets/{name}/versions", {
    params: { name },
    query: { limit: MOST, sort: "published_at", order: "desc" },
  });
  const listed = answer?.data.map((one) => one.version) ?? [];
  const versions = [...new Set([...(version === "" ? [] : [version]), ...listed])];
  return (
    <Field name="version" label={texts.version}>
      {(given) => (
        <select
          {...given}
          value={version}
          onChange={({ currentTarget }) => {
            onChange({ kind: "published", name, version: currentTarget.value });
          }}
        >
          {versions.map((one) => (
            <option key={one} value={one}>
              {one === active ? texts.activeVersion(one) : one}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
