import assert from "node:assert/strict";
import fc from "fast-check";
import { exactNumber, isExactValue } from "../../src/json/index.ts";
import { NUMBERS_BY_EXACTNESS } from "../cases/json/numbers.ts";
import { jsonNumber } from "../lua/json-arbitraries.ts";
import { runs } from "../support/runs.ts";

const shown = (literal: string) => (literal.length <= 40 ? literal : `${literal.slice(0, 40)}...`);

/** The value of a literal: digits without zeros at the end, and the power of ten of the last of them. */
function decimal(literal: string): string {
  const [mantissa = "", exponent = "0"] = literal.toLowerCase().split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  let digits = BigInt(whole + fraction || "0");
  if (digits === 0n) return "0";
  if (mantissa.startsWith("-") && digits > 0n) digits = -digits;
  let power = BigInt(exponent) - BigInt(fraction.length);
  while (digits % 10n === 0n) [digits, power] = [digits / 10n, power + 1n];
  return `${digits}e${power}`;
}

describe("json: which number a literal is", () => {
  for (const { literal, exact } of NUMBERS_BY_EXACTNESS) {
    it(`${shown(literal)} is ${exact ? "exact" : "not exact"}`, () => {
      assert.equal(exactNumber(literal), exact ? Number(literal) : NaN);
    });
  }

  it("is exact by its value alone where no other exact or rounded text becomes it, and it is written as it is", () => {
    for (const value of [0, -0, 1, 1e2, 9007199254740991, -9007199254740991, 0.1, -2.5, 5e-324])
      assert.ok(isExactValue(value), String(value));
    for (const value of [9007199254740992, -9007199254740992, 1.2345678901234568e20, 1e23, Infinity, NaN])
      assert.ok(!isExactValue(value), String(value));
    for (const { literal } of NUMBERS_BY_EXACTNESS)
      if (isExactValue(Number(literal)))
        assert.equal(exactNumber(JSON.stringify(Number(literal))), Number(literal) + 0, literal);
  });

  it("is one number for one value only, so that nothing is equal to what it is not", () => {
    const pair = fc
      .tuple(jsonNumber, fc.integer({ min: -3, max: 3 }))
      .map(([literal, steps]): [string, string] => {
        const [, head = "", digit = "0", tail = ""] = /^(.*?)(\d)([^\d]*|[eE].*)$/.exec(literal) ?? [];
        return [literal, `${head}${(Number(digit) + steps + 10) % 10}${tail}`];
      })
      .filter(([, other]) => /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(other));
    fc.assert(
      fc.property(pair, ([a, b]) => {
        if (exactNumber(a) === exactNumber(b)) assert.equal(decimal(a), decimal(b));
      }),
      { numRuns: runs(3000) },
    );
  });

  it("is an integer where it is written as one", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }), (integer) => {
        const number = exactNumber(String(integer));
        if (!Number.isNaN(number)) assert.equal(BigInt(number), integer);
        else assert.ok(integer > 2n ** 53n || integer < -(2n ** 53n));
      }),
      { numRuns: runs(3000) },
    );
  });

  it("is every fraction that a double prints", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
        if (Number.isInteger(number)) return;
        assert.equal(exactNumber(String(number)), number);
        assert.equal(exactNumber(number.toExponential()), number);
      }),
      { numRuns: runs(3000) },
    );
  });

  it("is told in one pass, of literals of any length", () => {
    const zeros = "0".repeat(1_000_000);
    assert.equal(exactNumber(`1${zeros}1`), NaN);
    assert.equal(exactNumber(`1${zeros}e-1000000`), 1);
    assert.equal(exactNumber(`0.${zeros}1e1000001`), 1);
    assert.equal(exactNumber(`-${"9".repeat(1_000_000)}`), NaN);
  });
});
