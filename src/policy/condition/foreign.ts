/** Hints for syntax from other languages: what to write instead. */

const OPERATORS: ReadonlyMap<string, string> = new Map([
  ["&&", "write `and`"],
  ["&", "write `and`"],
  ["||", "write `or`"],
  ["|", "write `or`"],
  ["!", "write `not`"],
  ["=", "write `==`"],
  ["===", "write `==`"],
  ["!==", "write `!=`"],
  ["<>", "write `!=`"],
  ["=>", "write `>=`"],
  ["=<", "write `<=`"],
]);

const NO_REGEX = "regular expressions are not supported: use `.startsWith(..)`, `.endsWith(..)` or `in [..]`";
const IN_LIST = "to search a list, write `list.includes(value)` or `value in list`";

const WORDS: ReadonlyMap<string, string> = new Map([
  ["is", "write `==`"],
  ["eq", "write `==`"],
  ["equals", "write `==`"],
  ["ne", "write `!=`"],
  ["neq", "write `!=`"],
  ["lt", "write `<`"],
  ["lte", "write `<=`"],
  ["le", "write `<=`"],
  ["gt", "write `>`"],
  ["gte", "write `>=`"],
  ["ge", "write `>=`"],
  ["xor", "write `(a or b) and not (a and b)`"],
  ["between", "write `a >= low and a <= high`"],
  ["matches", NO_REGEX],
  ["match", NO_REGEX],
  ["like", NO_REGEX],
  ["contains", IN_LIST],
  ["includes", IN_LIST],
  ["has", IN_LIST],
  ["startswith", 'write `attribute.startsWith("..")`'],
  ["endswith", 'write `attribute.endsWith("..")`'],
]);

const FUNCTIONS: ReadonlyMap<string, string> = new Map([
  ["contains", IN_LIST],
  ["includes", IN_LIST],
  ["member", IN_LIST],
  ["has", "write `exists(path)`; to search a list, write `.includes(value)`"],
  ["defined", "write `exists(path)`"],
  ["isset", "write `exists(path)`"],
  ["empty", "compare with the expected value instead"],
  ["len", "lengths are not available in conditions"],
  ["length", "lengths are not available in conditions"],
  ["size", "lengths are not available in conditions"],
  ["count", "lengths are not available in conditions"],
  ["startswith", 'write `attribute.startsWith("..")`'],
  ["endswith", 'write `attribute.endsWith("..")`'],
  ["matches", NO_REGEX],
  ["match", NO_REGEX],
  ["regex", NO_REGEX],
  ["lower", "string comparison is exact and case-sensitive"],
  ["upper", "string comparison is exact and case-sensitive"],
]);

const METHODS: ReadonlyMap<string, string> = new Map([
  [
    "contains",
    "to search a list, write `.includes(value)`; for a string, write `.startsWith(..)` or `.endsWith(..)`",
  ],
  ["has", "to search a list, write `.includes(value)`"],
  ["equals", "write `==`"],
  ["tolowercase", "string comparison is exact and case-sensitive"],
  ["touppercase", "string comparison is exact and case-sensitive"],
  ["lower", "string comparison is exact and case-sensitive"],
  ["upper", "string comparison is exact and case-sensitive"],
  ["matches", NO_REGEX],
  ["match", NO_REGEX],
  ["test", NO_REGEX],
  ["some", "write `.includes(value)` once for each value"],
  ["every", "write `.includes(value)` once for each value"],
  ["exists", "write `exists(path)`"],
]);

/** @returns what to write instead of a symbol such as `&&`. */
export function operatorHint(symbol: string): string | undefined {
  return (
    OPERATORS.get(symbol) ??
    (symbol.includes("~") ? NO_REGEX : /^=+$/.test(symbol) ? "write `==`" : undefined)
  );
}

/** @returns what to write instead of a word between two operands, such as `contains`. */
export function wordHint(word: string): string | undefined {
  return WORDS.get(word.toLowerCase());
}

/** @returns what to write instead of a call such as `contains(..)`. */
export function functionHint(name: string): string | undefined {
  return FUNCTIONS.get(name.toLowerCase());
}

/** @returns what to write instead of a call such as `.contains(..)`. */
export function methodHint(name: string): string | undefined {
  return METHODS.get(name.toLowerCase());
}

/** @returns the hint for a regular expression */
export function regexHint(): string {
  return NO_REGEX;
}
