/** Numbers of so few characters are exact: a double keeps 15 significant digits (IEEE 754). */
const SURELY_EXACT = 15;

/**
 * Whether a JSON number is the decimal that its nearest double prints as. `0.1` is; `9007199254740993`, `1e400` and a
 * fraction of 25 digits are not: one stack keeps them, another rounds.
 */
export function isExact(literal: string, nearest: number): boolean {
  if (literal.length <= SURELY_EXACT && !/e/i.test(literal)) return true;
  return Number.isFinite(nearest) && normalForm(literal) === normalForm(String(nearest));
}

const NUMBER = /^-?(\d+)(?:\.(\d+))?(?:e(.+))?$/i;

/** Significant digits and the power of ten of the last of them; zero has neither. */
function normalForm(literal: string): string {
  const [, whole = "", fraction = "", exponent = "0"] = NUMBER.exec(literal) ?? [];
  const digits = (whole + fraction).replace(/^0+/, "");
  const end = lastNonZero(digits);
  return end === 0
    ? "0"
    : `${digits.slice(0, end)}e${Number(exponent) - fraction.length + digits.length - end}`;
}

/** A loop, because `/0+$/` is quadratic. */
function lastNonZero(digits: string): number {
  let end = digits.length;
  while (end > 0 && digits[end - 1] === "0") end -= 1;
  return end;
}
