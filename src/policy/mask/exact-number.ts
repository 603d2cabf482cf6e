/**
 * The number that a JSON literal stands for, or `undefined` where it is not the decimal that its nearest double prints
 * as (`9007199254740993`, `1e400`): one reader keeps it, another rounds.
 */
export function exactNumber(literal: string): number | undefined {
  const nearest = Number(literal);
  return Number.isFinite(nearest) && normalForm(literal) === normalForm(String(nearest))
    ? nearest
    : undefined;
}

/** Significant digits and the power of ten of the last of them; zero has neither. */
function normalForm(decimal: string): string {
  const [mantissa = "", exponent = "0"] = decimal.toLowerCase().split("e");
  const [whole = "", fraction = ""] = mantissa.replace("-", "").split(".");
  const digits = (whole + fraction).replace(/^0+/, "");
  let end = digits.length;
  while (digits[end - 1] === "0") end -= 1; // a loop, because /0+$/ is quadratic
  if (end === 0) return "0";
  return `${digits.slice(0, end)}e${Number(exponent) - fraction.length + digits.length - end}`;
}
