import type { Value, ValueList } from "../value.ts";
import { FALSE, TRUE, type Verdicts } from "./verdicts.ts";

/** What `value in list` must be for a list. */
export interface EntryNeed {
  readonly value: Value | undefined;
  readonly verdicts: Verdicts;
}

/**
 * Lists that cover every case that these needs can distinguish. What decides is which of the values a list contains, and
 * which types its other entries have, because a comparison with another type is unknown.
 *
 * A list has every value that it must contain. If it has one of the values that it may contain, it may as well have all
 * of that type: they add no type.
 *
 * @param others - a text and a number that are none of the values
 */
export function listCandidates(
  needs: readonly EntryNeed[],
  others: { readonly text: string; readonly number: number },
): ValueList[] {
  const values = (fits: (verdicts: Verdicts) => boolean) => [
    ...new Set(
      needs.flatMap(({ value, verdicts }) => (value !== undefined && fits(verdicts) ? [value] : [])),
    ),
  ];
  const certain = values((verdicts) => verdicts === TRUE);
  const possible = values((verdicts) => verdicts !== TRUE && (verdicts & TRUE) !== 0);
  const byType = Map.groupBy(possible, (value) => (value === null ? "null" : typeof value));
  const allOfTypes = subsets([...byType.values()]).map((types) => types.flat());
  // if nothing needs a list without other entries, all of them at once make everything else unknown
  const extras =
    needs.length === 0 ? [[]] : subsets<Value>([others.text, others.number, true, false, null, {}, NaN]);
  return extras
    .sort((a, b) => a.length - b.length)
    .flatMap((extra) => allOfTypes.map((some) => [...certain, ...some, ...extra]));
}

/**
 * The same for a query parameter or header: all entries are texts. Two entries make it unknown where it stands for its
 * one value.
 */
export function sentCandidates(
  needs: readonly EntryNeed[],
  texts: readonly string[],
  others: readonly string[],
): ValueList[] {
  const values = needs.flatMap(({ value, verdicts }) =>
    typeof value === "string" && verdicts !== FALSE ? [{ value, verdicts }] : [],
  );
  const certain = [...new Set(values.flatMap((need) => (need.verdicts === TRUE ? [need.value] : [])))];
  const all = [...new Set(values.flatMap((need) => ((need.verdicts & TRUE) !== 0 ? [need.value] : [])))];
  const bases = [certain, all];
  return [
    ...texts.map((text) => [text]),
    ...bases,
    ...bases.flatMap((base) => [[...base, ...base], ...subsets(others).map((some) => [...base, ...some])]),
    [],
  ];
}

function subsets<Item>(items: readonly Item[]): Item[][] {
  return items.reduce<Item[][]>((sofar, item) => [...sofar, ...sofar.map((some) => [...some, item])], [[]]);
}
