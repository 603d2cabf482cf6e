import type { ComponentChildren } from "preact";
import { messages } from "../messages/index.ts";
import { readForm } from "./read-form.ts";
import type { UrlState } from "./url-state.ts";

interface FiltersProps {
  readonly url: UrlState;
  readonly names: readonly string[];
  /** From the values of the form to those in the address. */
  readonly read?: (name: string, value: string) => string;
  readonly children: ComponentChildren;
}

/** A form whose fields stand in the address once it is submitted. */
export function Filters({ url, names, read = (_name, value) => value, children }: FiltersProps) {
  const active = names.some((name) => url.values[name] !== undefined);
  return (
    <form
      class="card"
      // new fields when the address changes: they hold what is in force
      key={JSON.stringify(names.map((name) => url.values[name]))}
      onSubmit={(event) => {
        event.preventDefault();
        const { text } = readForm(event.currentTarget);
        url.set(Object.fromEntries(names.map((name) => [name, read(name, text(name))])));
      }}
    >
      <div class="filters">
        {children}
        <div class="row">
          <button type="submit">{messages.table.filter}</button>
          {active && (
            <button
              type="button"
              onClick={() => {
                url.set(Object.fromEntries(names.map((name) => [name, undefined])));
              }}
            >
              {messages.table.clear}
            </button>
          )}
        </div>
      </div>
    </form>
  );
}

interface ChoiceProps {
  readonly name: string;
  readonly label: string;
  readonly url: UrlState;
  readonly options: Readonly<Record<string, string>>;
}

/** One of some values, or all. */
export function Choice({ name, label, url, options }: ChoiceProps) {
  return (
    <div class="field">
      <label for={`filter-${name}`}>{label}</label>
      <select id={`filter-${name}`} name={name}>
        <option value="">{messages.all}</option>
        {Object.entries(options).map(([value, title]) => (
          <option key={value} value={value} selected={url.values[name] === value}>
            {title}
          </option>
        ))}
      </select>
    </div>
  );
}

interface TextFilterProps {
  readonly name: string;
  readonly label: string;
  readonly value: string | undefined;
  readonly type?: string;
}

export function TextFilter({ name, label, value, type = "search" }: TextFilterProps) {
  return (
    <div class="field">
      <label for={`filter-${name}`}>{label}</label>
      <input
        id={`filter-${name}`}
        name={name}
        type={type}
        step="1"
        defaultValue={value ?? ""}
        autocomplete="off"
      />
    </div>
  );
}

/** The value if the API knows it. */
export function oneOf<T extends string>(values: readonly T[], given: string | undefined): T | undefined {
  return values.find((value) => value === given);
}

/** Each value as its own title. */
export function asIs(values: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(values.map((value) => [value, value]));
}
