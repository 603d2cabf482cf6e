import { evaluate } from "../condition/evaluate.ts";
import { formatExpression, formatPath } from "../condition/format.ts";
import type { AttributePath } from "../ir.ts";
import type { Candidate, Domains } from "./domain.ts";
import type { Effort } from "./effort.ts";
import type { LeafNeed } from "./encoding.ts";
import { haveRoom } from "./number-candidates.ts";
import {
  attributesOf,
  constantsOf,
  entryNeedsOf,
  isAtOrAbove,
  type Constants,
  variablesOf,
  type Variable,
} from "./variables.ts";
import { contains, TRUE, UNKNOWN } from "./verdicts.ts";

/** Whether attributes can meet all needs. */
export type Met =
  | { readonly kind: "found"; readonly values: ReadonlyMap<string, Candidate> }
  /** These needs contradict each other. */
  | { readonly kind: "none"; readonly core: readonly LeafNeed[] }
  | { readonly kind: "undecided"; readonly core: readonly LeafNeed[]; readonly why: string };

/** The number of value combinations that are tried for one group of attributes. */
const MAX_TRIES = 20_000;
/** Larger sets of contradicting needs are not made smaller. */
const MAX_CORE = 12;

/** Looks for values of attributes that meet all needs, one group of attributes that depend on each other at a time. */
export function meet(needs: readonly LeafNeed[], domains: Domains, effort?: Effort): Met {
  const values = new Map<string, Candidate>();
  let undecided: Met | undefined;
  for (const group of groupsOf(needs)) {
    const met = meetGroup(group, domains, effort);
    if (met.kind === "none") return met;
    if (met.kind === "undecided") undecided = met;
    else for (const [key, value] of met.values) values.set(key, value);
  }
  return undecided ?? { kind: "found", values };
}

/** Needs that share an attribute, or have attributes of which one is above the other. */
function groupsOf(needs: readonly LeafNeed[]): LeafNeed[][] {
  const groups: { needs: LeafNeed[]; keys: Set<string> }[] = [];
  const paths = new Map(needs.flatMap(({ leaf }) => leaf.paths.map((path) => [JSON.stringify(path), path])));
  const keysOf = (need: LeafNeed): string[] =>
    need.leaf.paths.flatMap((path) => [
      JSON.stringify(path),
      ...path
        .slice(1)
        .map((_, index) => JSON.stringify(path.slice(0, index + 1)))
        .filter((key) => paths.has(key)),
    ]);
  const byKey = new Map<string, (typeof groups)[number]>();
  for (const need of needs) {
    const keys = keysOf(need);
    const [main, ...others] = new Set(keys.flatMap((key) => byKey.get(key) ?? []));
    const group = main ?? { needs: [], keys: new Set() };
    if (main === undefined) groups.push(group);
    for (const other of others) {
      group.needs.push(...other.needs);
      for (const key of other.keys) {
        group.keys.add(key);
        byKey.set(key, group);
      }
      other.needs = [];
    }
    group.needs.push(need);
    for (const key of keys) {
      group.keys.add(key);
      byKey.set(key, group);
    }
  }
  return groups.flatMap((group) => (group.needs.length === 0 ? [] : [group.needs]));
}

function meetGroup(needs: readonly LeafNeed[], domains: Domains, effort: Effort | undefined): Met {
  const found = search(needs, domains, effort);
  if (found.kind !== "failed") return found;
  const why = incompleteness(needs, domains);
  if (why === undefined) return { kind: "none", core: smaller(found.core, domains, effort) };
  // what is certain may contradict itself without the rest
  const certain = needs.flatMap((need) => (comparesTexts(need.leaf.expression) ? areTexts(need) : [need]));
  if (needs.some(({ leaf }) => comparesTexts(leaf.expression))) {
    const met = meet(certain, domains, effort);
    if (met.kind === "none") return met;
  }
  return { kind: "undecided", core: needs, why };
}

/** Leaves out needs without which the others still contradict each other. */
function smaller(
  core: readonly LeafNeed[],
  domains: Domains,
  effort: Effort | undefined,
): readonly LeafNeed[] {
  if (core.length > MAX_CORE) return core;
  let left = core;
  for (const need of core) {
    const without = left.filter((other) => other !== need);
    if (without.length > 0 && groupsOf(without).some((group) => isRefuted(group, domains, effort)))
      left = without;
  }
  return left;
}

function isRefuted(needs: readonly LeafNeed[], domains: Domains, effort: Effort | undefined): boolean {
  return search(needs, domains, effort).kind === "failed" && incompleteness(needs, domains) === undefined;
}

type Searched =
  | Extract<Met, { readonly kind: "found" | "undecided" }>
  /** `core`: the needs that ruled out the candidates. */
  | { readonly kind: "failed"; readonly core: readonly LeafNeed[] };

function search(all: readonly LeafNeed[], domains: Domains, effort: Effort | undefined): Searched {
  // what must be true or unknown rules out most candidates
  const needs = [...all].sort((a, b) => strictness(a) - strictness(b));
  const variables = inOrder(needs, domains);
  const last = (need: LeafNeed) =>
    Math.max(
      ...need.leaf.paths.map((path) =>
        variables.findIndex(({ paths }) => paths.some((own) => own.join("\n") === path.join("\n"))),
      ),
    );
  const due = variables.map(() => [] as LeafNeed[]);
  for (const need of needs) due[last(need)]?.push(need);
  const core = new Set<LeafNeed>();
  const values = new Map<string, Candidate>();
  let tries = 0;

  const assign = (index: number): boolean | undefined => {
    const variable = variables[index];
    if (variable === undefined) return true;
    const constants = withDomains(constantsOf(needs, values), variables, domains);
    const [path = []] = variable.paths;
    const entries = variable.paths.length === 1 ? entryNeedsOf(path, needs, values) : [];
    for (const tuple of variable.candidates(constants, entries)) {
      tries += 1;
      if (tries > MAX_TRIES || effort?.spend(1) === false) return undefined;
      for (const [at, own] of variable.paths.entries()) {
        const value = tuple[at];
        if (value !== undefined) values.set(JSON.stringify(own), value);
      }
      const attributes = attributesOf(values);
      const unmet = due[index]?.find(
        ({ leaf, verdicts }) => !contains(verdicts, evaluate(leaf.expression, attributes)),
      );
      if (unmet !== undefined) core.add(unmet);
      else {
        const rest = assign(index + 1);
        if (rest !== false) return rest;
      }
    }
    for (const own of variable.paths) values.delete(JSON.stringify(own));
    return false;
  };

  const done = assign(0);
  if (done === true) return { kind: "found", values };
  if (done === false) return { kind: "failed", core: [...core] };
  return { kind: "undecided", core: needs, why: `too many combinations of ${namesOf(needs)}` };
}

const NO_TEXTS = { points: [], prefixes: [], suffixes: [], containers: [] };

/** Adds what only some attributes of the group can be, or cannot be, because the others are compared with them. */
function withDomains(constants: Constants, variables: readonly Variable[], domains: Domains): Constants {
  if (variables.length < 2) return constants;
  const known = variables.flatMap(({ paths }) =>
    paths.flatMap((path): readonly unknown[] => {
      const domain = domains.of(path);
      if (domain.kind === "values") return domain.values;
      if (domain.kind !== "text") return [];
      return [...(domain.range.samples?.(NO_TEXTS) ?? []), ...(domain.range.points ?? [])];
    }),
  );
  const { texts, numbers } = constants;
  return {
    texts: { ...texts, points: [...texts.points, ...known.filter((value) => typeof value === "string")] },
    numbers: [
      ...numbers,
      ...known.filter((value) => typeof value === "number" && Number.isFinite(value)),
    ] as number[],
  };
}

function strictness({ verdicts }: LeafNeed): number {
  return verdicts === TRUE ? 0 : verdicts === UNKNOWN ? 1 : 2;
}

/**
 * Attributes above others first, because these have no values without them; lists last, because then all values that
 * they must contain are known.
 */
function inOrder(needs: readonly LeafNeed[], domains: Domains): Variable[] {
  const paths = new Map(needs.flatMap(({ leaf }) => leaf.paths.map((path) => [JSON.stringify(path), path])));
  const rank = ({ paths: own }: Variable): number => {
    const [path = []] = own;
    if ([...paths.values()].some((other) => other !== path && isAtOrAbove(path, other))) return path.length;
    return isSearched(path, needs) ? 1002 : isContainer(path, needs) ? 1001 : 1000;
  };
  return variablesOf([...paths.values()], domains).sort((a, b) => rank(a) - rank(b));
}

/** Whether the attribute is the list of an `in`. */
function isSearched(path: AttributePath, needs: readonly LeafNeed[]): boolean {
  return needs.some(({ leaf: { expression } }) => expression.op === "in" && isPath(expression.list, path));
}

/** Whether the attribute must begin or end with another one, which should be chosen before. */
function isContainer(path: AttributePath, needs: readonly LeafNeed[]): boolean {
  return needs.some(
    ({ leaf: { expression } }) =>
      comparesTexts(expression) && "target" in expression && isPath(expression.target, path),
  );
}

function isPath(operand: LeafNeed["leaf"]["expression"], path: AttributePath): boolean {
  return operand.op === "attribute" && operand.path.join("\n") === path.join("\n");
}

/** Why candidates for a group may be missing, so that nothing found does not mean that there is nothing. */
function incompleteness(needs: readonly LeafNeed[], domains: Domains): string | undefined {
  const texts = needs.find(({ leaf }) => comparesTexts(leaf.expression));
  if (texts !== undefined) return `\`${formatExpression(texts.leaf.expression)}\` compares two attributes`;
  const variables = inOrder(needs, domains);
  for (const { incomplete } of variables) if (incomplete !== undefined) return incomplete;
  const early = variables
    .slice(0, -1)
    .find(
      ({ paths: [path = []] }, index) =>
        isSearched(path, needs) &&
        variables.slice(index + 1).some(({ paths }) => paths.some((other) => areJoined(path, other, needs))),
    );
  if (early !== undefined)
    return `\`${formatPath(early.paths[0] ?? [])}\` is searched for more than one attribute`;
  return variables.length < 2 ||
    haveRoom(withDomains(constantsOf(needs, new Map()), variables, domains).numbers, variables.length)
    ? undefined
    : `too few numbers lie between those that ${namesOf(needs)} is compared with`;
}

function areJoined(list: AttributePath, other: AttributePath, needs: readonly LeafNeed[]): boolean {
  return needs.some(
    ({ leaf: { expression } }) =>
      expression.op === "in" && isPath(expression.list, list) && isPath(expression.value, other),
  );
}

function comparesTexts(expression: LeafNeed["leaf"]["expression"]): boolean {
  if (!("target" in expression)) return false;
  const { target, arg } = expression;
  return (
    target.op === "attribute" && arg.op === "attribute" && target.path.join("\n") !== arg.path.join("\n")
  );
}

/** If `a.startsWith(b)` is not unknown, both are texts. */
function areTexts(need: LeafNeed): LeafNeed[] {
  const { leaf, verdicts, literals } = need;
  if ((verdicts & UNKNOWN) !== 0) return [];
  return leaf.paths.map((path) => ({
    leaf: {
      kind: "leaf",
      expression: { op: "startsWith", target: { op: "attribute", path }, arg: { op: "literal", value: "" } },
      paths: [path],
    },
    verdicts: TRUE,
    literals,
  }));
}

function namesOf(needs: readonly LeafNeed[]): string {
  const names = new Set(needs.flatMap(({ leaf }) => leaf.paths.map((path) => `\`${formatPath(path)}\``)));
  return [...names].join(", ");
}
