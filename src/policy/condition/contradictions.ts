import type { AttributePath, LiteralValue } from "../ir.ts";
import type { Attributes, Verdict } from "../value.ts";
import type { ConditionNode } from "./ast.ts";
import { evaluate } from "./evaluate.ts";
import { formatCondition } from "./format.ts";
import { isTest, isValue, operandsOf, TESTS } from "./operators.ts";
import { samplesFor } from "./samples.ts";
import { childrenOf } from "./walk.ts";

/** A part of a chain of `and` or `or`: the node, or its opposite if `negated`. */
export interface Term {
  readonly node: ConditionNode;
  readonly negated: boolean;
}

/** Two parts that, joined by `and`, are never both true; or of which, joined by `or`, one is always true. */
export interface Contradiction {
  readonly earlier: Term;
  readonly later: Term;
}

/** Limits the time per condition: at most this many pairs are compared, with at most this many literals in each. */
const MAX_PAIRS = 100;
const MAX_LITERALS = 32;

/** The number of pairs of a condition that may still be compared. */
export interface Budget {
  pairs: number;
}

/** @returns the budget of one condition. */
export function fullBudget(): Budget {
  return { pairs: MAX_PAIRS };
}

/**
 * Finds parts that contradict each other for every request. It uses no solver and finds only these: two parts that
 * compare one attribute with literals, and a part with its own opposite.
 *
 * @returns at most one pair for each part, in order
 */
export function contradictions(op: "and" | "or", terms: readonly Term[], budget: Budget): Contradiction[] {
  const found: Contradiction[] = [];
  const before = new Map<string, About[]>();
  const texts = new Map<string, Term>();
  for (const term of terms) {
    const about = aboutOne(term);
    const earlier = about === undefined ? oppositeOf(term, texts) : earlierOf(op, about, before, budget);
    if (earlier !== undefined) found.push({ earlier, later: term });
    if (about === undefined) continue;
    // paths below it and above it: `a == 1` means that there is no `a.b`
    for (let length = 1; length <= about.path.length; length++) {
      const key = JSON.stringify(about.path.slice(0, length));
      const others = before.get(key) ?? [];
      others.push(about);
      before.set(key, others);
    }
  }
  return found;
}

/** A term that reads one attribute and compares it with literals. */
interface About {
  readonly term: Term;
  readonly path: AttributePath;
  readonly literals: readonly LiteralValue[];
}

function earlierOf(
  op: "and" | "or",
  later: About,
  before: ReadonlyMap<string, readonly About[]>,
  budget: Budget,
): Term | undefined {
  if (budget.pairs === 0) return undefined;
  const below = before.get(JSON.stringify(later.path)) ?? [];
  const above = later.path
    .slice(1)
    .flatMap((_, index) => before.get(JSON.stringify(later.path.slice(0, index + 1))) ?? [])
    .filter(({ path }) => path.length < later.path.length && path.every((key, at) => key === later.path[at]));
  for (const earlier of [...below, ...above]) {
    if (agree(op, earlier.term, later.term)) continue;
    if (earlier.literals.length + later.literals.length > MAX_LITERALS) continue;
    if (budget.pairs === 0) return undefined;
    budget.pairs -= 1;
    if (contradict(op, earlier, later)) return earlier.term;
  }
  return undefined;
}

/** Whether two terms are compatible whatever their literals are. True of nearly all pairs, so most need no sampling. */
function agree(op: "and" | "or", one: Term, other: Term): boolean {
  const [a, b] = [picks(one), picks(other)];
  // there is always another value that neither of them excludes
  if (a !== undefined && a === b && a === (op === "or")) return true;
  // a list may contain both
  return (
    a === true &&
    b === true &&
    [one, other].every(({ node }) => node.op === "in" && node.list.op === "attribute")
  );
}

/** Whether a term is true for a few values only (`==`, `in`, ...), or for all but a few. Other terms are neither. */
function picks({ node, negated }: Term): boolean | undefined {
  if (node.op === "!=") return negated;
  const few = node.op === "in" || (isTest(node) && TESTS[node.op].spells !== "nothing");
  return few ? !negated : undefined;
}

function contradict(op: "and" | "or", one: About, other: About): boolean {
  const [upper, lower] = one.path.length <= other.path.length ? [one, other] : [other, one];
  const samples = samplesFor(upper.path, lower.path, [...one.literals, ...other.literals]);
  const verdicts = samples.map((attributes) => [
    verdict(one.term, attributes),
    verdict(other.term, attributes),
  ]);
  // a part that is constant by itself is reported as another mistake
  if (![0, 1].every((index) => verdicts.some((pair) => pair[index] === (op === "and")))) return false;
  if (op === "and") return !verdicts.some((pair) => pair.every((each) => each === true));
  // both unknown, because the value is missing or of another type, is no contradiction
  return !verdicts.some((pair) => pair.includes(false) && !pair.includes(true));
}

function verdict({ node, negated }: Term, attributes: Attributes): Verdict {
  const found = evaluate(node, attributes);
  return found === undefined || !negated ? found : !found;
}

/**
 * @returns the attribute and literals of the term; nothing if it reads several attributes or none, nests conditions, or
 *   cannot be sampled
 */
function aboutOne(term: Term): About | undefined {
  if (!isSampled(term.node)) return undefined;
  const paths = new Map<string, AttributePath>();
  const literals: LiteralValue[] = [];
  const isPlain = (node: ConditionNode): boolean => {
    if (node.op === "attribute") {
      paths.set(JSON.stringify(node.path), node.path);
      return true;
    }
    if (node.op === "literal") {
      literals.push(node.value);
      return true;
    }
    return (
      literals.length <= MAX_LITERALS && childrenOf(node).every((child) => isValue(child) && isPlain(child))
    );
  };
  if (!isPlain(term.node)) return undefined;
  const [path, ...others] = paths.values();
  if (path === undefined || others.length > 0) return undefined;
  return { term, path, literals };
}

/** Whether the samples of an attribute cover every verdict that `node` can have. */
function isSampled(node: ConditionNode): boolean {
  if (isTest(node)) {
    const { sampled } = TESTS[node.op];
    return sampled === "either" || (sampled === "left" && operandsOf(node)[0].op === "attribute");
  }
  switch (node.op) {
    case "and":
    case "or":
    case "not":
      return false;
    case "in":
    case "exists":
    case "attribute":
    case "literal":
    case "list":
      return true;
  }
}

/** The opposite of `a != b` is `a == b`, and of `a < b` it is `a >= b`. */
const OPPOSITES: ReadonlyMap<string, string> = new Map([
  ["!=", "=="],
  [">", "<="],
  [">=", "<"],
]);

/** Remembers the text of a term, and finds an earlier term that is its opposite. */
function oppositeOf(term: Term, texts: Map<string, Term>): Term | undefined {
  const { text, opposite } = textsOf(term);
  if (!texts.has(text)) texts.set(text, term);
  return texts.get(opposite);
}

function textsOf({ node, negated }: Term): { text: string; opposite: string } {
  const op = OPPOSITES.get(node.op);
  const text =
    op === undefined || !("left" in node)
      ? formatCondition(node)
      : formatCondition({ ...node, op: op as typeof node.op });
  const flipped = (op !== undefined) !== negated;
  return flipped ? { text: `not ${text}`, opposite: text } : { text, opposite: `not ${text}` };
}
