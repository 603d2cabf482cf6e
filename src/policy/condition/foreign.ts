/** How people who know other languages are told what this one says instead. */

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

const NO_REGEX = "there are no regular expressions: use `.startsWith(..)`, `.endsWith(..)` or `in [..]`";
const IN_LIST = "a list is searched by `list.includes(value)` or `value in list`";

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
  ["has", "write `exists(path)`; a list is searched by `.includes(value)`"],
  ["defined", "write `exists(path)`"],
  ["isset", "write `exists(path)`"],
  ["empty", "compare with what is expected instead"],
  ["len", "lengths cannot be read"],
  ["length", "lengths cannot be read"],
  ["size", "lengths cannot be read"],
  ["count", "lengths cannot be read"],
  ["startswith", 'write `attribute.startsWith("..")`'],
  ["endswith", 'write `attribute.endsWith("..")`'],
  ["matches", NO_REGEX],
  ["match", NO_REGEX],
  ["regex", NO_REGEX],
  ["lower", "strings are compared exactly, letter case included"],
  ["upper", "strings are compared exactly, letter case included"],
]);

const METHODS: ReadonlyMap<string, string> = new Map([
  ["contains", "a list is searched by `.includes(value)`, a string by `.startsWith(..)` and `.endsWith(..)`"],
  ["has", "a list is searched by `.includes(value)`"],
  ["equals", "write `==`"],
  ["tolowercase", "strings are compared exactly, letter case included"],
  ["touppercase", "strings are compared exactly, letter case included"],
  ["lower", "strings are compared exactly, letter case included"],
  ["upper", "strings are compared exactly, letter case included"],
  ["matches", NO_REGEX],
  ["match", NO_REGEX],
  ["test", NO_REGEX],
  ["some", "write `.includes(value)` once for each value"],
  ["every", "write `.includes(value)` once for each value"],
  ["exists", "write `exists(path)`"],
]);

/** @returns what to write in place of a symbol such as `&&`. */
export function operatorHint(symbol: string): string | undefined {
  return (
    OPERATORS.get(symbol) ??
    (symbol.includes("~") ? NO_REGEX : /^=+$/.test(symbol) ? "write `==`" : undefined)
  );
}

/** @returns what to write in place of a word between two operands, such as `contains`. */
export function wordHint(word: string): string | undefined {
  return WORDS.get(word.toLowerCase());
}

/** @returns what to write in place of a call such as `contains(..)`. */
export function functionHint(name: string): string | undefined {
  return FUNCTIONS.get(name.toLowerCase());
}

/** @returns what to write in place of a call such as `.contains(..)`. */
export function methodHint(name: string): string | undefined {
  return METHODS.get(name.toLowerCase());
}

/** @returns what to say to a regular expression. */
export function regexHint(): string {
  return NO_REGEX;
}
