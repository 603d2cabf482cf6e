import { evaluate, MAX_DEPTH } from "../condition/evaluate.ts";
import { isTest, isValue, operandsOf, type TestOf } from "../condition/operators.ts";
import { pathsIn } from "../condition/reads.ts";
import type { AttributePath, Expression } from "../ir.ts";
import type { Verdict } from "../value.ts";

/** A node of a circuit, or its negation. Equal parts of conditions have equal references. */
export type Reference = number;

/** A part of a condition. What `or` and `not` do is expressed by `and` and negated references. */
export type CircuitNode =
  | { readonly kind: "constant"; readonly verdict: Verdict }
  /** A test of attributes and literals, without conditions inside. */
  | { readonly kind: "leaf"; readonly expression: Expression; readonly paths: readonly AttributePath[] }
  | { readonly kind: "and"; readonly args: readonly Reference[] }
  /** A test of which one operand is a condition: its verdict for each verdict of that condition. */
  | {
      readonly kind: "case";
      readonly of: Reference;
      readonly whenTrue: Reference;
      readonly whenFalse: Reference;
      readonly whenUnknown: Reference;
    };

/** The attribute of the empty path is always missing. */
const UNKNOWN: Expression = { op: "attribute", path: [] };
/** As an operand, only the type of a list matters. */
const LIST: Expression = { op: "list", items: [] };

/** @returns the number of a reference's node */
export function nodeOf(reference: Reference): number {
  return reference >> 1;
}

/** Whether a reference is the negation of its node. */
export function isNegated(reference: Reference): boolean {
  return (reference & 1) === 1;
}

export function negate(reference: Reference): Reference {
  return reference ^ 1;
}

/**
 * Conditions as one graph in which equal parts are one node. Spellings that mean the same for every value become equal:
 * `a != b` and `not a == b`, `a > b` and `b < a`, `a in ["x", "y"]` and `a == "x" or a == "y"`.
 */
export class Circuit {
  readonly #nodes: CircuitNode[] = [];
  readonly #known = new Map<string, number>();

  node(reference: Reference): CircuitNode {
    return this.#nodes[nodeOf(reference)] ?? { kind: "constant", verdict: undefined };
  }

  /** @returns the reference of a condition. Its verdict is that of `evaluate` for all attributes. */
  add(expression: Expression): Reference {
    return this.#condition(expression, 0);
  }

  #condition(expression: Expression, depth: number): Reference {
    if (depth > MAX_DEPTH) return this.#constant(undefined);
    if (isTest(expression)) return this.#test(expression, depth + 1);
    switch (expression.op) {
      case "and":
      case "or": {
        const args = expression.args.map((arg) => this.#condition(arg, depth + 1));
        return expression.op === "and" ? this.#and(args) : this.#or(args);
      }
      case "not":
        return negate(this.#condition(expression.arg, depth + 1));
      case "in":
        return this.#membership(expression, depth + 1);
      case "exists":
      case "attribute":
      case "literal":
        return this.#leaf(expression);
      case "list":
        break;
    }
    return this.#constant(undefined); // also an operator of a later version
  }

  #test(test: TestOf<Expression>, depth: number): Reference {
    const [left, right] = operandsOf(test);
    return this.#operand(left, depth, (one) =>
      this.#operand(right, depth, (other) => this.#plainTest(test.op, one, other)),
    );
  }

  /** All orders are expressed by `<`, and `!=` by `==`. */
  #plainTest(op: TestOf<Expression>["op"], left: Expression, right: Expression): Reference {
    switch (op) {
      case "==":
      case "!=": {
        const [first, second] = JSON.stringify(left) <= JSON.stringify(right) ? [left, right] : [right, left];
        const equal = this.#leaf({ op: "==", left: first, right: second });
        return op === "==" ? equal : negate(equal);
      }
      case "<":
        return this.#leaf({ op, left, right });
      case ">":
        return this.#leaf({ op: "<", left: right, right: left });
      case "<=":
        return negate(this.#leaf({ op: "<", left: right, right: left }));
      case ">=":
        return negate(this.#leaf({ op: "<", left, right }));
      case "startsWith":
      case "endsWith":
        return this.#leaf({ op, target: left, arg: right });
    }
  }

  #membership({ value, list }: Extract<Expression, { op: "in" }>, depth: number): Reference {
    if (list.op === "list") {
      if (list.items.length === 0) return this.#constant(false);
      return this.#operand(value, depth, (one) =>
        this.#or(
          list.items.map((item) => this.#operand(item, depth, (other) => this.#plainTest("==", one, other))),
        ),
      );
    }
    if (list.op !== "attribute") return this.#constant(undefined);
    return this.#operand(value, depth, (one) => this.#leaf({ op: "in", value: one, list }));
  }

  /** Builds a test of an operand that may be a condition: by the verdicts that it can have. */
  #operand(operand: Expression, depth: number, test: (plain: Expression) => Reference): Reference {
    if (operand.op === "list") return test(LIST);
    if (isValue(operand)) return test(operand);
    const of = this.#condition(operand, depth);
    const whenTrue = test({ op: "literal", value: true });
    const whenFalse = test({ op: "literal", value: false });
    const whenUnknown = test(UNKNOWN);
    const node = this.node(of);
    if (node.kind === "constant") {
      if (node.verdict === undefined) return whenUnknown;
      return node.verdict === isNegated(of) ? whenFalse : whenTrue;
    }
    if (whenTrue === whenFalse && whenTrue === whenUnknown) return whenTrue;
    return this.#intern({ kind: "case", of, whenTrue, whenFalse, whenUnknown });
  }

  #or(args: readonly Reference[]): Reference {
    return args.length === 0 ? this.#constant(undefined) : negate(this.#and(args.map(negate)));
  }

  #and(args: readonly Reference[]): Reference {
    if (args.length === 0) return this.#constant(undefined);
    const left = new Set<Reference>();
    for (const arg of args) {
      const node = this.node(arg);
      if (node.kind === "constant" && node.verdict !== undefined) {
        if (node.verdict === isNegated(arg)) return this.#constant(false);
      } else if (node.kind === "and" && !isNegated(arg)) for (const part of node.args) left.add(part);
      else left.add(arg);
    }
    const sorted = [...left].sort((a, b) => a - b);
    const [first] = sorted;
    if (first === undefined) return this.#constant(true);
    return sorted.length === 1 ? first : this.#intern({ kind: "and", args: sorted });
  }

  #leaf(expression: Expression): Reference {
    const paths = new Map(pathsIn(expression).map((path) => [JSON.stringify(path), path]));
    paths.delete("[]");
    if (paths.size === 0) return this.#constant(evaluate(expression, {}));
    return this.#intern({ kind: "leaf", expression, paths: [...paths.values()] });
  }

  /** `false` is the negation of `true`, so that constants are equal, too. */
  #constant(verdict: Verdict): Reference {
    return verdict === false
      ? negate(this.#intern({ kind: "constant", verdict: true }))
      : this.#intern({ kind: "constant", verdict });
  }

  #intern(node: CircuitNode): Reference {
    const key = JSON.stringify(node);
    const known = this.#known.get(key);
    if (known !== undefined) return known * 2;
    this.#known.set(key, this.#nodes.length);
    return (this.#nodes.push(node) - 1) * 2;
  }
}
