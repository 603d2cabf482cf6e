import { HIDDEN, isSensitiveName, sanitize } from "../../../src/text/index.ts";
import { EMPTY_EXAMPLE, EXAMPLE_FIELDS, type Example, type ExampleField } from "../core/explain-protocol.ts";

/** The set that an example is explained with: a published one, or one that was pasted. */
export type ChosenSet =
  | { readonly kind: "published"; readonly name: string; readonly version: string }
  | { readonly kind: "pasted"; readonly text: string };

export interface Shared {
  readonly set?: ChosenSet;
  readonly example: Example;
}

/** Why a link is not read further. */
const LONGEST = 100_000;
const FORM = "example=";

/** An example without what lets somebody in, and the names of what was left out. */
export function withoutSecrets({ set, example }: Shared): {
  readonly shared: Shared;
  readonly leftOut: readonly string[];
} {
  const leftOut: string[] = [];
  const note = (name: string, before: string, after: string) => {
    if (after !== before && !leftOut.includes(name)) leftOut.push(name);
    return after;
  };
  const headers = (field: ExampleField) =>
    example[field]
      .split("\n")
      .flatMap((line) => {
        const name = line.split(":", 1)[0]?.trim().toLowerCase() ?? "";
        if (!isSensitiveName(name)) return [note(name, line, hidden(line))];
        note(name, line, "");
        return [];
      })
      .join("\n");
  const clean: Record<ExampleField, string> = { ...example };
  for (const field of EXAMPLE_FIELDS)
    clean[field] =
      field === "headers" || field === "response_headers"
        ? headers(field)
        : note(
            field,
            example[field],
            field === "line" ? hiddenQuery(example.line) : hiddenText(example[field]),
          );
  const chosen =
    set?.kind === "pasted"
      ? { ...set, text: note("policy_set", set.text, set.text.split("\n").map(hidden).join("\n")) }
      : set;
  return { shared: { ...(chosen && { set: chosen }), example: clean }, leftOut };
}

/** The value after `#` of a link to an example: browsers do not send it to any server. */
export function fragmentOf({ set, example }: Shared): string {
  const given = EXAMPLE_FIELDS.filter((field) => example[field] !== EMPTY_EXAMPLE[field]);
  const text = JSON.stringify({
    set,
    example: Object.fromEntries(given.map((field) => [field, example[field]])),
  });
  const bytes = new TextEncoder().encode(text);
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return FORM + btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** @returns the example of a link; `undefined` if there is none, or none that can be read */
export function readFragment(hash: string): Shared | undefined {
  const text = hash.replace(/^#/, "");
  if (!text.startsWith(FORM) || text.length > LONGEST) return undefined;
  try {
    const binary = atob(text.slice(FORM.length).replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    const value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as unknown;
    const { set, example } = recordOf(value);
    const fields = recordOf(example);
    const chosen = setOf(recordOf(set));
    return {
      ...(chosen && { set: chosen }),
      example: Object.fromEntries(
        EXAMPLE_FIELDS.map((field) => [field, textOf(fields[field]) ?? EMPTY_EXAMPLE[field]]),
      ) as Example,
    };
  } catch {
    return undefined;
  }
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function setOf(given: Readonly<Record<string, unknown>>): ChosenSet | undefined {
  const [name, version, text] = ["name", "version", "text"].map((member) => textOf(given[member]));
  if (given["kind"] === "pasted" && text !== undefined) return { kind: "pasted", text };
  return name === undefined || version === undefined ? undefined : { kind: "published", name, version };
}

/** A line with tokens and credentials hidden; it may be long, and it is not a log. */
function hidden(line: string): string {
  const safe = sanitize(line, Math.max(line.length * 4, 100));
  // escapes are for logs: without a secret in it, the line stays as it is
  return timesHidden(safe) > timesHidden(line) ? safe : line;
}

function timesHidden(text: string): number {
  return text.split(HIDDEN).length;
}

function hiddenQuery(line: string): string {
  return hidden(
    line.replace(/([?&])([^=&#]*)=([^&#]*)/g, (whole, mark: string, name: string) =>
      isSensitiveName(decoded(name)) ? `${mark}${name}=${HIDDEN}` : whole,
    ),
  );
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** Text that may be JSON: the values of members with a sensitive name, and tokens anywhere. */
function hiddenText(text: string): string {
  let changes = 0;
  const hide = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(hide);
    if (typeof value === "string") {
      const safe = hidden(value);
      if (safe !== value) changes += 1;
      return safe;
    }
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => {
        if (!isSensitiveName(name)) return [name, hide(member)];
        changes += 1;
        return [name, HIDDEN];
      }),
    );
  };
  try {
    const safe = hide(JSON.parse(text));
    return changes > 0 ? JSON.stringify(safe, null, 2) : text;
  } catch {
    return text.split("\n").map(hidden).join("\n");
  }
}
