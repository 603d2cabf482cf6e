import assert from "node:assert/strict";
import fc from "fast-check";
import { deepFreeze, isList, isObject, parseJsonTree, type JsonNode } from "../../src/json/index.ts";

const LIMITS = { depth: 20 };

function rootOf(text: string): JsonNode {
  const tree = parseJsonTree(text, LIMITS);
  assert.ok(tree.ok, text);
  return tree.root;
}

/** Every node with the text at its span, in order. */
function spansOf(text: string, node = rootOf(text)): string[] {
  const here = text.slice(node.start, node.stop);
  if (node.kind === "array") return [here, ...node.items.flatMap((item) => spansOf(text, item))];
  if (node.kind === "object")
    return [
      here,
      ...node.members.flatMap(({ start, value }) => [
        text.slice(start, value.start),
        ...spansOf(text, value),
      ]),
    ];
  return [here];
}

describe("json: parseJsonTree", () => {
  it("says where each value and each name stands", () => {
    assert.deepEqual(spansOf(' { "a" : [ 1.50 , "x\\n", {} ], "b":null,"a":-0e1 } '), [
      '{ "a" : [ 1.50 , "x\\n", {} ], "b":null,"a":-0e1 }',
      '"a" : ',
      '[ 1.50 , "x\\n", {} ]',
      "1.50",
      '"x\\n"',
      "{}",
      '"b":',
      "null",
      '"a":',
      "-0e1",
    ]);
  });

  it("has every value as JSON.parse makes it, and every member that repeats", () => {
    const valueOf = (node: JsonNode): unknown => {
      if (node.kind === "array") return node.items.map(valueOf);
      if (node.kind !== "object") return node.value;
      return Object.fromEntries(node.members.map(({ name, value }) => [name, valueOf(value)]));
    };
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), (text) => {
        const tree = parseJsonTree(text, { depth: 100 });
        assert.ok(tree.ok);
        const [own, expected] = [valueOf(tree.root), JSON.parse(text) as unknown].map((value) =>
          JSON.stringify(value, (_key, part: unknown) =>
            typeof part === "number" && !Number.isSafeInteger(part) ? 0 : part,
          ),
        );
        if (!/\d{16}/.test(text)) assert.equal(own, expected);
      }),
    );
    const root = rootOf('{"a":1,"\\u0061":2,"\\ud800":true}');
    assert.ok(root.kind === "object");
    assert.deepEqual(
      root.members.map(({ name }) => name),
      ["a", "a", "\ud800"],
    );
  });

  it("says why a text is not read", () => {
    const reason = (text: string, limits: Parameters<typeof parseJsonTree>[1] = LIMITS) => {
      const tree = parseJsonTree(text, limits);
      return tree.ok ? "ok" : tree.reason;
    };
    assert.equal(reason("[1,]"), "syntax");
    assert.equal(reason('"\ud800"'), "utf8");
    assert.equal(reason('"\\ud800\\u0000"'), "ok");
    assert.equal(reason("[".repeat(21)), "depth");
    assert.equal(reason("[1,2]", { depth: 1, values: 2 }), "values");
    assert.equal(reason("[1,2]", { depth: 1, values: 3 }), "ok");
    assert.equal(reason("[".repeat(1_000_000), { depth: Infinity }), "depth");
  });
});

describe("json: values", () => {
  it("are objects, lists or scalars", () => {
    const kinds = [{}, Object.create(null), [], null, "x", 1, undefined, () => 1].map((value: unknown) => [
      isObject(value),
      isList(value),
    ]);
    const [object, list, other] = [
      [true, false],
      [false, true],
      [false, false],
    ];
    assert.deepEqual(kinds, [object, object, list, other, other, other, other, other]);
  });

  it("are frozen all the way down", () => {
    const value = { a: { b: [{ c: 1 }] }, d: null };
    assert.equal(deepFreeze(value), value);
    for (const part of [value, value.a, value.a.b, value.a.b[0]]) assert.ok(Object.isFrozen(part));
  });
});
