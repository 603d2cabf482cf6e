import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
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
  const values = JSON.stringify(names.map((name) => url.values[name]));
  const form = useRef<HTMLFormElement>(null);
  /** The id of what had the focus in the former fields. */
  const focused = useRef<string>();
  useLayoutEffect(() => {
    if (focused.current === undefined) return;
    const same = document.getElementById(focused.current);
    (same ?? form.current?.querySelector<HTMLElement>("[type=submit]"))?.focus();
    focused.current = undefined;
  }, [values]);
  const set = (read: (name: string) => string) => {
    const next = names.map((name) => [name, read(name)] as const);
    if (next.some(([name, value]) => value !== (url.values[name] ?? "")))
      focused.current = document.activeElement?.id ?? "";
    url.set(Object.fromEntries(next));
  };
  return (
    <form
      class="card"
      // new fields when the address changes: they hold what is in force
      key={values}
      ref={form}
      onSubmit={(event) => {
        event.preventDefault();
        const { text } = readForm(event.currentTarget);
        set((name) => read(name, text(name)));
      }}
    >
      <div class="filters">
        {children}
        <div class="row">
          <button type="submit" id="filter-apply">
            {messages.table.filter}
          </button>
          {active && (
            <button
              type="button"
              onClick={() => {
                set(() => "");
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
