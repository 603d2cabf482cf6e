import { foldedParts, foldSimple, withoutIndexes } from "./fold.ts";

/** The query parameters that a rule reads; finds other spellings that could be read as one of them. */
export interface ParameterNames {
  readonly exact: ReadonlySet<string>;
  /** Folded, each with the name that the rule reads. */
  readonly folded: ReadonlyMap<string, string>;
  /** First parts of the names, and the names without their first part: `filter` and `status` of `filter[status]`. */
  readonly partial: ReadonlyMap<string, string>;
}

/** Prefixes of a name are checked up to this number of parts: no rule reads a longer one. */
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

/**
 * Separators of parameters, for software that decodes a query before splitting it; and `?`, for software that searches for the
 * last `?` of a URL or removes a leading one.
 */
const BETWEEN_PARAMETERS = /[?&;]/;

/**
 * @returns the name that one of the parameters could be read as although it is spelled differently, or that a value could be
 * read as containing: `next=/a?status=x`, `a=1%26status=x`.
 */
export function similarParameter(
  parameters: Readonly<Record<string, readonly string[]>>,
  names: ParameterNames,
): string | undefined {
  for (const name in parameters) {
    const read = names.exact.has(name) ? undefined : similarName(name, names);
    if (read !== undefined) return read;
    for (const value of parameters[name] ?? []) {
      const held = BETWEEN_PARAMETERS.test(value) ? heldBy(value, names) : undefined;
      if (held !== undefined) return held;
    }
  }
  return undefined;
}

function heldBy(value: string, names: ParameterNames): string | undefined {
  const [, ...others] = value.split(BETWEEN_PARAMETERS);
  for (const parameter of others) {
    const [name = ""] = parameter.split("=", 1);
    const read = name === "" ? undefined : similarName(name, names);
    if (read !== undefined) return read;
  }
  return undefined;
}

function similarName(name: string, names: ParameterNames): string | undefined {
  const simple = foldSimple(name);
  return simple === undefined ? similarTo(decodedAgain(name), names) : lookUp(simple, names);
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
  if (!BETWEEN_PARAMETERS.test(name)) return undefined;
  for (const part of name.split(BETWEEN_PARAMETERS)) {
    const found = part === "" ? undefined : similarTo(part, names);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The whole folded name, then what servers make of brackets or dots in it. */
function spellingsOf(name: string): readonly string[] {
  const parts = foldedParts(name);
  const spellings = [parts.join("")];
  if (parts.length > 1) {
    spellings.push(withoutIndexes(parts).join(""), parts.slice(1).join(""));
    const most = Math.min(parts.length - 1, MOST_PARTS);
    for (let length = 1; length <= most; length++) spellings.push(parts.slice(0, length).join(""));
  }
  return spellings;
}

/** Only escapes of valid UTF-8 (RFC 3629, section 4), and no other `%`. Tested first, because many exceptions are slow. */
const UTF8 =
  /^(?:[^%]|%[0-7][\da-f]|%(?:c[2-9a-f]|d[\da-f]|e0%[ab][\da-f]|e[1-9a-cef]%[89ab][\da-f]|ed%[89][\da-f]|f0%[9ab][\da-f]%[89ab][\da-f]|f[1-3]%[89ab][\da-f]%[89ab][\da-f]|f4%8[\da-f]%[89ab][\da-f])%[89ab][\da-f])*$/i;

/** The result of decoding a name a second time. */
function decodedAgain(name: string): string {
  if (!name.includes("%")) return name;
  if (UTF8.test(name)) return decodeURIComponent(name);
  // not UTF-8, or a single `%`: only ASCII escapes matter for names
  return name.replace(/%([0-7][0-9a-f])/gi, (_, digits: string) => String.fromCharCode(parseInt(digits, 16)));
}
