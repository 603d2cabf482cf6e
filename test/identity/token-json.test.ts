import assert from "node:assert/strict";
import fc from "fast-check";
import { parseTokenJson } from "../../src/identity/token-json.ts";

const valueOf = (text: string): unknown => {
  const parsed = parseTokenJson(text);
  assert.ok(parsed.ok, parsed.ok ? "" : parsed.detail);
  return parsed.value;
};
/** As JSON again, for comparing objects without prototypes to others. */
const plain = (text: string): unknown => JSON.parse(JSON.stringify(valueOf(text)));
const detailOf = (text: string) => {
  const parsed = parseTokenJson(text);
  return parsed.ok ? "ok" : parsed.detail;
};

/** The shortest text of an integer beyond 2^53 need not be its value, so that it may rightly be unknown. */
const withExactNumbers = (object: unknown): unknown =>
  JSON.parse(JSON.stringify(object), (_key, value: unknown) =>
    typeof value === "number" && Number.isInteger(value) ? value % Number.MAX_SAFE_INTEGER : value,
  );

describe("identity: JSON of tokens", () => {
  it("reads what JSON.parse reads, when every parser agrees on it", () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 5 })).map(withExactNumbers),
        (object) => {
          const text = JSON.stringify(object);
          assert.deepEqual(plain(text), JSON.parse(text));
        },
      ),
    );
  });

  it("refuses every object in which one member is written twice", () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { minKeys: 1 }),
        fc.nat(),
        fc.nat({ max: 3 }),
        (object, pick, depth) => {
          const members = Object.entries(object).map(
            ([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`,
          );
          const text = `{${[...members, members[pick % members.length]].join(",")}}`;
          const nested = '{"a":['.repeat(depth) + text + "]}".repeat(depth);
          assert.equal(detailOf(nested), "a member is repeated");
        },
      ),
    );
  });

  it("is not misled by strings", () => {
    assert.deepEqual(plain(String.raw`{"a\":{":"[:\\","b":"{\"c\":1}"}`), { 'a":{': "[:\\", b: '{"c":1}' });
  });

  it("names what is wrong", () => {
    assert.equal(detailOf('{"a":1,"\\u0061":2}'), "a member is repeated");
    assert.equal(detailOf('{"__proto__":1,"__proto__":2}'), "a member is repeated");
    for (const text of ["", "{", "{} {}", "{'a':1}", '{"a":1,}', '{"a":01}', "\ufeff{}", "NaN"]) {
      assert.equal(detailOf(text), "not JSON", text);
    }
    for (const text of ["[]", "null", '"a"', "1", "9007199254740993"]) {
      assert.equal(detailOf(text), "not a JSON object", text);
    }
    const deep = (depth: number) => '{"a":'.repeat(depth) + "1" + "}".repeat(depth);
    assert.equal(detailOf(deep(32)), "ok");
    assert.equal(detailOf(deep(33)), "nested more than 32 deep");
    assert.equal(detailOf("[".repeat(1_000_000)), "nested more than 32 deep");
  });

  const kept = [
    "0",
    "-0",
    "0.0",
    "0e999999",
    "1",
    "-1",
    "1.0",
    "1e2",
    "100e-2",
    "0.1",
    "1.5E+3",
    "3.141592653589793",
  ];
  const large = ["9007199254740991", "9007199254740992", "-9007199254740992", "1e21", "1e23"];
  for (const number of [...kept, ...large]) {
    it(`keeps ${number}`, () => {
      assert.equal((valueOf(`{"n":${number}}`) as { n: number }).n, Number(number));
    });
  }
  const lost = [
    "9007199254740993",
    "-9007199254740993",
    "9007199254740993.0",
    "9007199254740993e0",
    "90071992547409930e-1",
  ];
  const rounded = [
    "1180591620717411303424",
    "123456789012345680000",
    "123456789012345678901",
    "1e999",
    "1e-999",
    "0.1234567890123456789",
    "1.00000000000000000001",
  ];
  for (const number of [...lost, ...rounded]) {
    it(`does not know ${number}`, () => {
      assert.deepEqual({ ...(valueOf(`{"n":${number},"m":1}`) as object) }, { n: NaN, m: 1 });
    });
  }

  it("never makes one value of two numbers", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }), (integer) => {
        const { n } = valueOf(`{"n":${integer}}`) as { n: number };
        if (!Number.isNaN(n)) assert.equal(BigInt(n), integer);
        else assert.ok(!Number.isSafeInteger(Number(integer)));
      }),
    );
  });

  it("has NaN in the place of such a number, and everything around it", () => {
    const text =
      '{"list":[1,9007199254740993],"outer":[[9007199254740993]],"object":{"n":9007199254740993,"m":1},"mixed":[{"n":9007199254740993}]}';
    const value = JSON.stringify(valueOf(text), (_key, part: unknown) => (Number.isNaN(part) ? "NaN" : part));
    assert.deepEqual(JSON.parse(value), {
      list: [1, "NaN"],
      outer: [["NaN"]],
      object: { n: "NaN", m: 1 },
      mixed: [{ n: "NaN" }],
    });
  });

  it("reads numbers with many zeros in one pass", () => {
    const zeros = "0".repeat(1_000_000);
    assert.deepEqual({ ...(valueOf(`{"n":1${zeros}1,"m":1${zeros}e-1000000}`) as object) }, { n: NaN, m: 1 });
  });

  it("makes frozen objects without prototype, all the way down", () => {
    const value = valueOf('{"a":{"b":[{"c":1}]},"__proto__":{"polluted":true}}') as Record<string, never>;
    const seen: unknown[] = [];
    const visit = (node: unknown) => {
      if (typeof node !== "object" || node === null) return;
      seen.push(node);
      assert.ok(Object.isFrozen(node));
      if (!Array.isArray(node)) assert.equal(Object.getPrototypeOf(node), null);
      Object.values(node).forEach(visit);
    };
    visit(value);
    assert.equal(seen.length, 5);
    assert.deepEqual(Object.keys(value), ["a", "__proto__"]);
    assert.equal(({} as Record<string, unknown>)["polluted"], undefined);
  });
});
