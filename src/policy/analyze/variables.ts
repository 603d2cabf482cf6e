import { attributeOperand } from "../condition/values.ts";
import type { AttributePath, Expression } from "../ir.ts";
import { UNAVAILABLE, type Attributes, type Value } from "../value.ts";
import { MISSING, type Candidate, type Domains } from "./domain.ts";
import type { LeafNeed } from "./encoding.ts";
import { listCandidates, sentCandidates, type EntryNeed } from "./list-candidates.ts";
import { numberCandidates } from "./number-candidates.ts";
import { textCandidates, type TextConstants } from "./text-candidates.ts";

/** In a list of candidates, the symbol alone would be any symbol. */
const ABSENT: Candidate = MISSING;

/** One attribute, or several whose values are chosen together. */
export interface Variable {
  readonly paths: readonly AttributePath[];
  /**
   * @param constants - everything that the attributes of the group are compared with
   * @param entries - what the list must contain, if the attribute is one
   * @returns tuples of values in the order of `paths`, ordinary ones first
   */
  readonly candidates: (
    constants: Constants,
    entries: readonly EntryNeed[],
  ) => readonly (readonly Candidate[])[];
  /** Why the candidates may not be complete, if so. */
  readonly incomplete?: string;
}

/** Literals and values that were already chosen, by what they are compared with. */
export interface Constants {
  readonly texts: TextConstants;
  readonly numbers: readonly number[];
}

/** @returns the variables of these attributes */
export function variablesOf(paths: readonly AttributePath[], domains: Domains): Variable[] {
  return paths.map((path) => single(path, domains));
}

function single(path: AttributePath, domains: Domains): Variable {
  const domain = domains.of(path);
  const alone = (values: readonly Candidate[]) => values.map((value): readonly Candidate[] => [value]);
  switch (domain.kind) {
    case "values":
      return { paths: [path], candidates: () => alone(domain.values) };
    case "text": {
      const { range, missing } = domain;
      return {
        paths: [path],
        candidates: ({ texts }) =>
          alone(missing ? [...textCandidates(texts, range), ABSENT] : textCandidates(texts, range)),
        ...(range.incomplete !== undefined && { incomplete: range.incomplete }),
      };
    }
    case "sent":
      return {
        paths: [path],
        candidates: ({ texts }, entries) => {
          const found = textCandidates(texts, {});
          const others = found.filter((text) => entries.every(({ value }) => value !== text)).slice(0, 2);
          return alone([...sentCandidates(entries, found, others), ABSENT]);
        },
      };
    case "any":
      return {
        paths: [path],
        candidates: (constants, entries) => alone(anything(constants, entries, domain.unavailable)),
      };
  }
}

function anything(
  { texts, numbers }: Constants,
  entries: readonly EntryNeed[],
  unavailable: boolean,
): readonly Candidate[] {
  const strings = textCandidates(texts, {});
  const digits = numberCandidates(numbers);
  const taken = new Set(entries.map(({ value }) => value));
  const others = {
    text: strings.find((text) => !taken.has(text)) ?? "",
    number: digits.find((number) => !taken.has(number)) ?? 0,
  };
  return [
    ...(numbers.length > 0 ? [...digits, ...strings] : [...strings, ...digits]),
    ...[true, false, null],
    {},
    ABSENT,
    ...listCandidates(entries, others),
    NaN,
    ...(unavailable ? [UNAVAILABLE as Candidate] : []),
  ];
}

/** The attributes that a group's values make. */
export function attributesOf(values: ReadonlyMap<string, Candidate>): Attributes {
  const root = Object.create(null) as Record<string, Value>;
  const paths = [...values].map(([key, value]) => ({ path: JSON.parse(key) as AttributePath, value }));
  for (const { path, value } of paths.sort((a, b) => a.path.length - b.path.length)) {
    const isMissing = path.some(
      (_, index) => values.get(JSON.stringify(path.slice(0, index + 1))) === MISSING,
    );
    if (isMissing) continue;
    let at: Record<string, Value> | undefined = root;
    for (const key of path.slice(0, -1)) at = memberOf(at, key);
    // above is something that has no members, so this one is missing or unavailable as well
    if (at !== undefined) at[path.at(-1) ?? ""] = copied(value as Value);
  }
  return root;
}

/** Objects get members later. */
function copied(value: Value): Value {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.assign(Object.create(null) as object, value)
    : value;
}

function memberOf(at: Record<string, Value> | undefined, key: string): Record<string, Value> | undefined {
  if (at === undefined) return undefined;
  const found = at[key] ?? (Object.hasOwn(at, key) ? null : (at[key] = Object.create(null) as Value));
  return typeof found === "object" && found !== null && !Array.isArray(found)
    ? (found as Record<string, Value>)
    : undefined;
}

/** What the literals of a group, and the values chosen so far, mean for the attributes compared with them. */
export function constantsOf(needs: readonly LeafNeed[], chosen: ReadonlyMap<string, Candidate>): Constants {
  const points = new Set<string>();
  const prefixes = new Set<string>();
  const suffixes = new Set<string>();
  const containers = new Set<string>();
  const numbers = new Set<number>();
  const attributes = attributesOf(chosen);
  const valuesOf = (operand: Expression): readonly unknown[] => {
    if (operand.op === "literal") return [operand.value];
    if (operand.op !== "attribute" || !chosen.has(JSON.stringify(operand.path))) return [];
    const value = attributeOperand(operand.path, attributes);
    return Array.isArray(value) ? (value as readonly unknown[]) : [value];
  };
  for (const { leaf } of needs) {
    const { expression } = leaf;
    const [main, side] = sidesOf(expression);
    const string = expression.op === "startsWith" || expression.op === "endsWith";
    for (const [operand, isSide] of [
      [main, false],
      [side, true],
    ] as const) {
      for (const value of operand === undefined ? [] : valuesOf(operand)) {
        if (typeof value === "number" && Number.isFinite(value)) numbers.add(value);
        if (typeof value !== "string" || !value.isWellFormed()) continue;
        if (!string) points.add(value);
        else if (!isSide) containers.add(value);
        else (expression.op === "startsWith" ? prefixes : suffixes).add(value);
      }
    }
  }
  return {
    texts: {
      points: [...points],
      prefixes: [...prefixes],
      suffixes: [...suffixes],
      containers: [...containers],
    },
    numbers: [...numbers],
  };
}

function sidesOf(expression: Expression): readonly (Expression | undefined)[] {
  if ("left" in expression) return [expression.left, expression.right];
  if ("target" in expression) return [expression.target, expression.arg];
  return expression.op === "in" ? [expression.value, expression.list] : [];
}

/** What each need says about the entries of a list, provided that the other operand is known. */
export function entryNeedsOf(
  path: AttributePath,
  needs: readonly LeafNeed[],
  chosen: ReadonlyMap<string, Candidate>,
): readonly EntryNeed[] {
  const attributes = attributesOf(chosen);
  return needs.flatMap(({ leaf: { expression }, verdicts }): EntryNeed[] => {
    if (expression.op !== "in" || expression.list.op !== "attribute") return [];
    if (!isSame(expression.list.path, path)) return [];
    const { value } = expression;
    if (value.op === "literal") return [{ value: value.value, verdicts }];
    if (value.op !== "attribute") return [{ value: undefined, verdicts }];
    return [{ value: attributeOperand(value.path, attributes), verdicts }];
  });
}

export function isSame(a: AttributePath, b: AttributePath): boolean {
  return a.length === b.length && a.every((key, index) => key === b[index]);
}

/** Whether `a` is `b` or above it. */
export function isAtOrAbove(a: AttributePath, b: AttributePath): boolean {
  return a.length <= b.length && a.every((key, index) => key === b[index]);
}
