import { foldedParts, foldSimple, remembered, withoutIndexes } from "./fold.ts";

/** The names of query parameters that a rule reads, and what else could be read as one of them. */
export interface ParameterNames {
  readonly exact: ReadonlySet<string>;
  /** Folded, each with the name that the rule reads. */
  readonly folded: ReadonlyMap<string, string>;
  /** What the names begin with, and what they are without their first part: `filter` and `status` of `filter[status]`. */
  readonly partial: ReadonlyMap<string, string>;
}

/** Beginnings of a name are looked at up to so many parts: nobody reads one of more. */
const MOST_PARTS = 8;

export function parameterNames(names: Iterable<string>): ParameterNames {
  const exact = new Set(names);
  const folded = new Map<string, string>();
  const partial = new Map<string, string>();
  for (const name of exact) {
    const parts = foldedParts(name);
    folded.set(parts.join(""), name);
    for (let length = 1; length < parts.length; length++) partial.set(parts.slice(0, length).join(""), name);
    if (parts.length > 1) partial.set(parts.slice(1).join(""), name);
  }
  return { exact, folded, partial };
}

/** @returns the name that one of the parameters could be read as, though it is spelled otherwise. */
export function similarParameter(
  parameters: Readonly<Record<string, unknown>>,
  names: ParameterNames,
): string | undefined {
  for (const name in parameters) {
    if (names.exact.has(name)) continue;
    const simple = foldSimple(name);
    const read = simple === undefined ? similarTo(name, names) : lookUp(simple, names);
    if (read !== undefined) return read;
  }
  return undefined;
}

function lookUp(whole: string, { folded, partial }: ParameterNames): string | undefined {
  return folded.get(whole) ?? partial.get(whole);
}

function similarTo(name: string, names: ParameterNames): string | undefined {
  const [whole = "", ...others] = spellingsOf(name);
  const read = lookUp(whole, names);
  if (read !== undefined) return read;
  for (const spelling of others) {
    const found = names.folded.get(spelling);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The whole name folded, then what servers make of one with brackets or dots in it. */
const spellingsOf = remembered((name) => {
  const parts = foldedParts(decodedAgain(name));
  const spellings = [parts.join("")];
  if (parts.length > 1) {
    spellings.push(withoutIndexes(parts).join(""), parts.slice(1).join(""));
    const most = Math.min(parts.length - 1, MOST_PARTS);
    for (let length = 1; length <= most; length++) spellings.push(parts.slice(0, length).join(""));
  }
  return spellings;
});

/** What a second decoding makes of a name. */
function decodedAgain(name: string): string {
  if (!name.includes("%")) return name;
  try {
    return decodeURIComponent(name);
  } catch {
    // not UTF-8, or a lone `%`: whatever is left of it, ASCII is what names are made of
    return name.replace(/%([0-7][0-9a-f])/gi, (_, digits: string) =>
      String.fromCharCode(parseInt(digits, 16)),
    );
  }
}
