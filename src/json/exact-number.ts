/** Numbers of at most this many characters are exact: a double keeps 15 significant digits (IEEE 754). */
const SURELY_EXACT = 15;

/** No double is an integer with more digits. */
const MOST_DIGITS = 309;

/**
 * The value of a JSON number literal, or NaN if parsers disagree about it. NaN keeps the value present, and no
 * comparison with it is true.
 *
 * A literal is exact if it is the decimal that its nearest double prints as, so that two exact literals with different
 * values are never the same double. An integer literal must also equal the double's integer value, because parsers keep
 * the digits of integers and read everything else as a double or a decimal. `0.1`, `1e23` and `9007199254740992` are
 * exact. `9007199254740993`, `1e400` and `123456789012345680000` are not: the last one is what its double prints as,
 * but the double's value is 123456789012345683968.
 */
export function exactNumber(literal: string): number {
  const nearest = Number(literal);
  return isExact(literal, nearest) ? nearest : NaN;
}

/**
 * Whether a number is exact by its value alone, if its text is no longer known: for values from a database, or parsed
 * by a library. An unsafe integer (RFC 7493, section 2.2) may have been another one, and is written again with digits
 * that are not exact: `1.2345678901234568e20` becomes 123456789012345680000.
 */
export function isExactValue(value: number): boolean {
  // no double above has a fraction
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER;
}

function isExact(literal: string, nearest: number): boolean {
  if (literal.length <= SURELY_EXACT && exponentAt(literal) < 0) return true;
  const printed = String(nearest);
  if (printed !== literal) {
    if (!Number.isFinite(nearest) || normalForm(literal) !== normalForm(printed)) return false;
  }
  if (Math.abs(nearest) <= Number.MAX_SAFE_INTEGER) return true;
  return !isInteger(literal) || isVeryInteger(literal, nearest);
}

/** Whether it has neither a fraction nor an exponent. */
function isInteger(literal: string): boolean {
  return !literal.includes(".") && exponentAt(literal) < 0;
}

function isVeryInteger(literal: string, nearest: number): boolean {
  return literal.length <= MOST_DIGITS + 1 && String(BigInt(nearest)) === literal;
}

/** The significant digits, and the power of ten of the last one; zero has neither. */
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
