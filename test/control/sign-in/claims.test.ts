import assert from "node:assert/strict";
import { exactClaims, withoutInexactNumbers } from "../../../src/control/sign-in/exact-json.ts";
import { readIdentity } from "../../../src/control/sign-in/claims.ts";

/** What a page of a hundred users can be made of. */
const BOUND = 32_768;

describe("claims of a provider that are taken over", () => {
  it("a provider's profile is bounded as a whole, the largest claims being left out", () => {
    const large = Array.from({ length: 200 }, (_, at) => `${at}`.padEnd(256, "x"));
    const mapping = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`copy_${at}`, "large"]));
    const { profile, leftOut } = readIdentity(mapping, { sub: "s", large, role: "editor" }, {});
    assert.ok(Buffer.byteLength(JSON.stringify(profile)) <= BOUND);
    assert.equal(profile["role"], "editor");
    assert.equal(leftOut.length, 50);
  });

  it("groups of a usual number are taken over", () => {
    const groups = Array.from({ length: 200 }, (_, at) => `${at}`.padEnd(36, "0"));
    assert.deepEqual(readIdentity({}, { sub: "s", groups }, {}).profile["groups"], groups);
  });

  it("integers of which it is not known which one the provider wrote are left out, alone and in lists", () => {
    const said = JSON.parse(
      '{"sub":"s","one":9007199254740993,"list":[1,123456789012345680000],"far":-9007199254740993,"most":9007199254740991,"part":0.1}',
    ) as Record<string, unknown>;
    const mapping = Object.fromEntries(["one", "list", "far", "most", "part"].map((name) => [name, name]));
    const { profile, leftOut } = readIdentity(mapping, said, {});
    assert.deepEqual({ ...profile }, { most: 9007199254740991, part: 0.1 });
    assert.deepEqual([...leftOut].sort(), ["far", "list", "one"]);
  });

  it("numbers that are not exact are taken out before the client library reads them", () => {
    const said =
      '{"a":9007199254740991.4,"b":[0.1,1e400],"c":"9007199254740993","d":{"e":123456789012345680000},"f":1e23}';
    const token = `x.${Buffer.from(said).toString("base64url")}.x`;
    const exact = { a: {}, b: [0.1, {}], c: "9007199254740993", d: { e: {} }, f: 1e23 };
    assert.deepEqual(JSON.parse(withoutInexactNumbers(said)), exact);
    const { a, b, d } = exactClaims(token) as { a: unknown; b: unknown; d: { e: unknown } };
    assert.deepEqual([a, b, d.e], [NaN, [0.1, NaN], NaN]);
    const mapping = Object.fromEntries(["a", "b", "f"].map((name) => [name, name]));
    assert.deepEqual([...readIdentity(mapping, { sub: "s", ...exactClaims(token) }, {}).leftOut].sort(), [
      "a",
      "b",
      "f",
    ]);
    // and all else stays as it was written
    assert.equal(
      withoutInexactNumbers('{ "a":1e400 ,"b": "\\u0041", "a":1.0e2}'),
      '{ "a":{} ,"b": "\\u0041", "a":1.0e2}',
    );
    assert.throws(() => withoutInexactNumbers('{"a":9007199254740993,"a":1,}'));
  });

  it("what a provider says has a bounded number of values, in a token and in an answer", () => {
    const said = (count: number) => `{"n":1e400,"l":[${Array.from({ length: count }, () => 0).join(",")}]}`;
    const token = (text: string) => `x.${Buffer.from(text).toString("base64url")}.x`;
    assert.match(withoutInexactNumbers(said(9_000)), /^\{"n":\{\},/);
    assert.ok(Number.isNaN(exactClaims(token(said(9_000)))["n"]));
    assert.throws(() => withoutInexactNumbers(said(10_000)));
    assert.throws(() => exactClaims(token(said(10_000))));
    assert.throws(() => exactClaims(token("[1]")));
  });
});
