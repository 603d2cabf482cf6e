/** Numbers of so few characters are exact: a double keeps 15 significant digits (IEEE 754). */
const SURELY_EXACT = 15;

/**
 * Whether a JSON number is the decimal that its nearest double prints as. `0.1` is; `9007199254740993`, `1e400` and a
 * fraction of 25 digits are not: one stack keeps them, another rounds.
 */
export function isExact(literal: string, nearest: number): boolean {
  if (literal.length <= SURELY_EXACT && exponentAt(literal) < 0) return true;
  const printed = String(nearest);
  if (printed === literal) return true;
  return Number.isFinite(nearest) && normalForm(literal) === normalForm(printed);
}

/** Significant digits and the power of ten of the last of them; zero has neither. */
function normalForm(literal: string): string {
  const exponent = exponentAt(literal);
  const mantissa = literal.slice(literal.startsWith("-") ? 1 : 0, exponent < 0 ? undefined : exponent);
  const point = mantissa.indexOf(".");
  const digits = point < 0 ? mantissa : mantissa.slice(0, point) + mantissa.slice(point + 1);
  const start = firstNonZero(digits);
  if (start === digits.length) return "0";
  const end = lastNonZero(digits);
  const fraction = point < 0 ? 0 : mantissa.length - point - 1;
  const power = exponent < 0 ? 0 : Number(literal.slice(exponent + 1));
  return `${digits.slice(start, end)}e${power - fraction + digits.length - end}`;
}

function exponentAt(literal: string): number {
  return Math.max(literal.indexOf("e"), literal.indexOf("E"));
}

function firstNonZero(digits: string): number {
  let start = 0;
  while (digits[start] === "0") start += 1;
  return start;
}

/** A loop, because `/0+$/` is quadratic. */
function lastNonZero(digits: string): number {
  let end = digits.length;
  while (digits[end - 1] === "0") end -= 1;
  return end;
}
