import type { AttributePath, LiteralValue } from "../ir.ts";
import type { Attributes, Value } from "../value.ts";
import { isSentSeveralTimes } from "./values.ts";

/** Attributes with few possible values. */
const WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
const DOMAINS: ReadonlyMap<string, readonly LiteralValue[]> = new Map<string, readonly LiteralValue[]>([
  ["env.weekday", WEEKDAYS],
  ["env.hour", Array.from({ length: 24 }, (_, hour) => hour)],
]);

/** @returns all values that an attribute can have, if they are few */
export function domainOf(path: AttributePath): readonly LiteralValue[] | undefined {
  return path.length === 2 ? DOMAINS.get(path.join(".")) : undefined;
}

/**
 * Values of an attribute, and of another at or below it, that cover every case that comparisons with `literals` can
 * distinguish: equal to one, between two, beyond all, of every type, and missing.
 *
 * @param upper - a prefix of `lower`
 */
export function samplesFor(
  upper: AttributePath,
  lower: AttributePath,
  literals: readonly LiteralValue[],
): Attributes[] {
  const values = domainOf(upper) ?? valuesFor(upper, literals);
  const own = values.map((value) => attributesWith(upper, value));
  if (upper.length === lower.length) return own;
  const below = valuesFor(lower, literals).map((value) => attributesWith(lower, value));
  // an object without it: a path between the two may also be missing
  return [...own, ...below, attributesWith(upper, {})];
}

const MISSING = Symbol("missing");
type Sample = Value | typeof MISSING;

function valuesFor(path: AttributePath, literals: readonly LiteralValue[]): Sample[] {
  const scalars: LiteralValue[] = [...numbers(literals), ...strings(literals), true, false, null];
  const lists: Value[] = [[], literals, ...literals.map((one) => [one]), ["\u{10ffff}"], [0.5, "\u{10ffff}"]];
  if (!isSentSeveralTimes(path)) return [MISSING, ...scalars, ...lists, {}];
  const sent = scalars.filter((value) => typeof value === "string");
  const given = literals.filter((value) => typeof value === "string");
  return [MISSING, [], ...sent.map((value) => [value]), [...given, ...given, ""], ["", "\u{10ffff}"]];
}

/** Every number among the literals, one between each two neighbours, and one beyond each end. */
function numbers(literals: readonly LiteralValue[]): number[] {
  const given = literals.filter((value) => typeof value === "number").sort((a, b) => a - b);
  const between = given.flatMap((value, index) => {
    const next = given[index + 1];
    return next === undefined ? [] : [value / 2 + next / 2];
  });
  const [first = 0] = given;
  return [-Number.MAX_VALUE, ...given, ...between, Number.MAX_VALUE, first / 2].filter(Number.isFinite);
}

/**
 * The same for strings, plus strings that start or end like one of them. Strings that start like one and end like
 * another are not covered.
 */
function strings(literals: readonly LiteralValue[]): string[] {
  const given = literals.filter((value) => typeof value === "string");
  const around = given.flatMap((value) => [value, `${value}\u0000`, `\u0000${value}`, `\u{10ffff}${value}`]);
  const joined = given.length > 4 ? [] : given.flatMap((one) => given.map((other) => one + other));
  return ["", "\u0000", "\u{10ffff}", ...around, ...joined];
}

function attributesWith(path: AttributePath, value: Sample): Attributes {
  const entry = path.reduceRight<Sample>((below, key) => (below === MISSING ? {} : { [key]: below }), value);
  return entry === MISSING ? {} : (entry as unknown as Attributes);
}
