import { isList } from "../../json/index.ts";
import { FALSE, only, TRUE, UNKNOWN, type Verdicts } from "../../policy/analyze/verdicts.ts";
import {
  equal,
  isSentSeveralTimes,
  MAX_DEPTH,
  operandOf,
  ordered,
  UNAVAILABLE,
  type AttributePath,
  type Expression,
  type Operand,
  type Value,
  type Verdict,
} from "../../policy/evaluation.ts";

/** What is known of an attribute. */
export type RecordedValue =
  /** As it was: a value, missing, or unavailable. */
  | { readonly kind: "known"; readonly value: Value | typeof UNAVAILABLE | undefined }
  /** A string or number of which a hash is known, or a list of such and of known values. */
  | { readonly kind: "hash"; readonly hash: HashedValue | readonly (HashedValue | KnownItem)[] }
  /** It had a value. */
  | { readonly kind: "present" }
  | { readonly kind: "unrecorded" };

export interface HashedValue {
  readonly type: "string" | "number" | "boolean";
  readonly digest: string;
}
export interface KnownItem {
  readonly item: Value;
}

/** Attributes of which only a part is known. */
export interface RecordedValues {
  read(path: AttributePath): RecordedValue;
  /** The hash of a value, in the form of a hashed one; `undefined` without the key. */
  hash(value: string | number | boolean): string | undefined;
}

const ANYTHING: Verdicts = TRUE | FALSE | UNKNOWN;
const EITHER: Verdicts = TRUE | FALSE;

/** An operand: its value, its hash, or nothing at all. */
type Part =
  | { readonly kind: "value"; readonly value: Operand }
  | ({ readonly kind: "hash" } & HashedValue)
  | { readonly kind: "any" };

const ANY: Part = { kind: "any" };

/**
 * Evaluates a condition over attributes of which only a part is known.
 *
 * @returns every verdict that `evaluate` may give for what is not known. It may contain more, because attributes that are read
 *   in several places are treated as independent; it never lacks one
 */
export function possibleVerdicts(expression: Expression, values: RecordedValues, depth = 0): Verdicts {
  if (depth > MAX_DEPTH) return ANYTHING;
  const below = depth + 1;
  switch (expression.op) {
    case "and":
      return decideAll(expression.args, FALSE, values, below);
    case "or":
      return decideAll(expression.args, TRUE, values, below);
    case "not":
      return negated(possibleVerdicts(expression.arg, values, below));
    case "==":
      return equality(
        partAt(expression.left, values, below),
        partAt(expression.right, values, below),
        values,
      );
    case "!=":
      return negated(
        equality(partAt(expression.left, values, below), partAt(expression.right, values, below), values),
      );
    case "<":
    case "<=":
    case ">":
    case ">=": {
      const { op } = expression;
      return test(partAt(expression.left, values, below), partAt(expression.right, values, below), (a, b) =>
        ordered(op, a, b),
      );
    }
    case "startsWith":
    case "endsWith": {
      const { op } = expression;
      return test(partAt(expression.target, values, below), partAt(expression.arg, values, below), (a, b) =>
        typeof a === "string" && typeof b === "string" ? a[op](b) : undefined,
      );
    }
    case "in":
      return membership(expression, values, below);
    case "exists":
      return existence(values.read(expression.path));
    case "attribute":
    case "literal":
    case "list": {
      const part = partAt(expression, values, depth);
      if (part.kind === "any") return ANYTHING;
      if (part.kind === "hash") return part.type === "boolean" ? EITHER : UNKNOWN;
      return only(typeof part.value === "boolean" ? part.value : undefined);
    }
  }
}

function negated(possible: Verdicts): Verdicts {
  return (possible & UNKNOWN) | (possible & TRUE ? FALSE : 0) | (possible & FALSE ? TRUE : 0);
}

/** Kleene's `and` (`decisive` is false) and `or` (it is true) over sets of verdicts. */
function decideAll(
  args: readonly Expression[],
  decisive: Verdicts,
  values: RecordedValues,
  depth: number,
): Verdicts {
  return combined(
    args.map((arg) => possibleVerdicts(arg, values, depth)),
    decisive,
  );
}

function combined(all: readonly Verdicts[], decisive: Verdicts): Verdicts {
  if (all.length === 0) return UNKNOWN;
  const neutral = decisive === TRUE ? FALSE : TRUE;
  const undecisive = neutral | UNKNOWN;
  let result = neutral;
  for (const one of all) {
    if (one === 0) return 0;
    // of each pair: decisive if one is, neutral if both are, unknown otherwise
    result =
      ((result | one) & decisive) |
      (result & one & neutral) |
      ((result & undecisive) !== 0 && (one & undecisive) !== 0 ? (result | one) & UNKNOWN : 0);
  }
  return result;
}

function existence(recorded: RecordedValue): Verdicts {
  switch (recorded.kind) {
    case "known":
      return only(recorded.value === undefined ? false : recorded.value === UNAVAILABLE ? undefined : true);
    case "hash":
    case "present":
      return TRUE;
    case "unrecorded":
      return ANYTHING;
  }
}

/** The value of an expression used as an operand. The value of a condition is its verdict. */
function partAt(expression: Expression, values: RecordedValues, depth: number): Part {
  switch (expression.op) {
    case "attribute":
      return attributePart(expression.path, values.read(expression.path));
    case "literal":
      return known(operandOf(expression.value));
    case "list":
      return known([]); // outside `in`, only its type matters
    default: {
      const possible = possibleVerdicts(expression, values, depth);
      if (possible === TRUE) return known(true);
      if (possible === FALSE) return known(false);
      return possible === UNKNOWN ? known(undefined) : ANY;
    }
  }
}

function known(value: Operand): Part {
  return { kind: "value", value };
}

function attributePart(path: AttributePath, recorded: RecordedValue): Part {
  switch (recorded.kind) {
    case "known": {
      const value = operandOf(recorded.value);
      if (!isList(value) || !isSentSeveralTimes(path)) return known(value);
      return known(value.length === 1 ? operandOf(value[0]) : undefined);
    }
    case "hash": {
      const { hash } = recorded;
      if (!isItems(hash)) return { kind: "hash", ...hash };
      if (!isSentSeveralTimes(path)) return known([]); // a list: only its type matters
      const [only] = hash;
      return only === undefined || hash.length > 1 ? known(undefined) : itemPart(only);
    }
    case "present":
    case "unrecorded":
      return ANY;
  }
}

function isItems(
  hash: HashedValue | readonly (HashedValue | KnownItem)[],
): hash is readonly (HashedValue | KnownItem)[] {
  return Array.isArray(hash);
}

function itemPart(item: HashedValue | KnownItem): Part {
  return "item" in item ? known(operandOf(item.item)) : { kind: "hash", ...item };
}

/** A test that needs the values themselves. Each takes two operands of one type. */
function test(a: Part, b: Part, decide: (a: Operand, b: Operand) => Verdict): Verdicts {
  if (a.kind === "value" && b.kind === "value") return only(decide(a.value, b.value));
  if (isUnknown(a) || isUnknown(b)) return UNKNOWN;
  if (a.kind === "any" || b.kind === "any") return ANYTHING;
  // both are of one type, or no verdict is possible; which of the tests takes that type does not matter here
  return typeOf(a) === typeOf(b) ? ANYTHING : UNKNOWN;
}

function equality(a: Part, b: Part, values: RecordedValues): Verdicts {
  if (a.kind === "value" && b.kind === "value") return only(equal(a.value, b.value));
  if (isUnknown(a) || isUnknown(b)) return UNKNOWN;
  if (a.kind === "any" || b.kind === "any") return ANYTHING;
  if (isNull(a) || isNull(b)) return FALSE;
  if (typeOf(a) !== typeOf(b)) return UNKNOWN;
  const [left, right] = [digestOf(a, values), digestOf(b, values)];
  return left === undefined || right === undefined ? EITHER : only(left === right);
}

function isUnknown(part: Part): boolean {
  return part.kind === "value" && part.value === undefined;
}

function isNull(part: Part): boolean {
  return part.kind === "value" && part.value === null;
}

function typeOf(part: Exclude<Part, { kind: "any" }>): string {
  return part.kind === "hash" ? part.type : typeof part.value;
}

function digestOf(part: Part, values: RecordedValues): string | undefined {
  if (part.kind === "hash") return part.digest;
  if (part.kind === "any" || part.value === undefined || typeof part.value === "object") return undefined;
  return values.hash(part.value);
}

function membership(
  { value, list }: Extract<Expression, { op: "in" }>,
  values: RecordedValues,
  depth: number,
): Verdicts {
  const part = partAt(value, values, depth);
  const items = itemsOf(list, values, depth);
  if (items === "anything") return ANYTHING;
  if (items === "no list") return UNKNOWN;
  // false for an empty list, whatever the value is
  if (items.length === 0) return FALSE;
  return combined(
    items.map((item) => equality(part, item, values)),
    TRUE,
  );
}

function itemsOf(
  list: Expression,
  values: RecordedValues,
  depth: number,
): readonly Part[] | "anything" | "no list" {
  if (list.op === "list") return list.items.map((item) => partAt(item, values, depth));
  if (list.op !== "attribute") return "no list";
  const recorded = values.read(list.path);
  switch (recorded.kind) {
    case "known":
      return isList(recorded.value) ? recorded.value.map((item) => known(operandOf(item))) : "no list";
    case "hash":
      return isItems(recorded.hash) ? recorded.hash.map(itemPart) : "no list";
    case "present":
    case "unrecorded":
      return "anything";
  }
}
