import assert from "node:assert/strict";
import {
  compileCondition,
  evaluate,
  explain,
  firstFailing,
  formatExpression,
  parseCondition,
  type TraceNode,
} from "../../../src/policy/condition/index.ts";
import type { Expression } from "../../../src/policy/ir.ts";
import { UNAVAILABLE, type Attributes } from "../../../src/policy/value.ts";

function traced(text: string, attributes: Attributes): TraceNode {
  const { ast } = parseCondition(text);
  assert.ok(ast, text);
  return explain(compileCondition(ast, text).expression, attributes);
}

describe("explain", () => {
  it("gives every part its verdict, its text and what it read", () => {
    const attributes: Attributes = { user: { role: "viewer" }, target: UNAVAILABLE, path: { id: "7" } };
    const trace = traced(
      'user.role=="admin" and not (target.x in ["a"] or exists(user.boss)) and path.id == user.id',
      attributes,
    );
    assert.deepEqual(trace, {
      op: "and",
      verdict: "false",
      text: 'user.role == "admin" and not (target.x in ["a"] or exists(user.boss)) and path.id == user.id',
      reads: [],
      children: [
        {
          op: "==",
          verdict: "false",
          text: 'user.role == "admin"',
          reads: [{ path: "user.role", state: "present", value: "viewer" }],
          children: [],
        },
        {
          op: "not",
          verdict: "unknown",
          text: 'not (target.x in ["a"] or exists(user.boss))',
          reads: [
            { path: "target.x", state: "unavailable" },
            { path: "user.boss", state: "missing" },
          ],
          children: [
            {
              op: "or",
              verdict: "unknown",
              text: 'target.x in ["a"] or exists(user.boss)',
              reads: [],
              children: [
                {
                  op: "in",
                  verdict: "unknown",
                  text: 'target.x in ["a"]',
                  reads: [{ path: "target.x", state: "unavailable" }],
                  children: [],
                },
                {
                  op: "exists",
                  verdict: "false",
                  text: "exists(user.boss)",
                  reads: [{ path: "user.boss", state: "missing" }],
                  children: [],
                },
              ],
            },
          ],
        },
        {
          op: "==",
          verdict: "unknown",
          text: "path.id == user.id",
          reads: [
            { path: "path.id", state: "present", value: "7" },
            { path: "user.id", state: "missing" },
          ],
          children: [],
        },
      ],
    });
    assert.deepEqual(JSON.parse(JSON.stringify(trace)), trace);
  });

  it("names each attribute once, and no more than twenty", () => {
    assert.equal(traced("a.b.startsWith(a.b) == (a.b in [a.b, 1])", {}).reads.length, 1);
    const many = Array.from({ length: 50 }, (_, index) => `a.b${index}`).join(", ");
    assert.equal(traced(`1 in [${many}]`, {}).reads.length, 20);
  });

  it("shows as much of a value as one can look at", () => {
    const shown = (value: unknown) => traced("a == 1", { a: value } as Attributes).reads[0]?.value;
    assert.equal(shown("x".repeat(1000)), `${"x".repeat(99)}…`);
    assert.equal(shown(`${"x".repeat(98)}😀xx`), `${"x".repeat(98)}…`);
    assert.equal(shown("a\ud800"), "a\ufffd");
    assert.equal(shown(NaN), "NaN");
    assert.equal(shown(7), 7);
    assert.equal(shown(null), null);
    assert.equal(shown(false), false);
    assert.deepEqual(shown([1, "x"]), [1, "x"]);
    assert.deepEqual(shown(Array.from({ length: 99 }, () => 0)), [
      ...Array.from({ length: 10 }, () => 0),
      "… 89 more",
    ]);
    assert.deepEqual(shown({ a: { b: { c: { d: 1 } } } }), { a: { b: { c: "…" } } });
    const wide = shown(Object.fromEntries(Array.from({ length: 99 }, (_, index) => [`k${index}`, index])));
    assert.equal(Object.keys(wide as object).length, 11);
    assert.equal((wide as Record<string, unknown>)["…"], "89 more");
    const hostile = shown(JSON.parse('{"__proto__":{"x":1}}'));
    assert.ok(Object.hasOwn(hostile as object, "__proto__"));
  });

  it("cuts the text of a long part", () => {
    const { text } = traced(Array.from({ length: 1000 }, () => "a.b == 1").join(" or "), {});
    assert.equal(text.length, 400);
    assert.ok(text.endsWith("…"));
  });
});

describe("firstFailing", () => {
  const attributes = { a: { t: true, f: false } };

  it("is nothing where the condition is true", () => {
    assert.equal(firstFailing(traced("a.t and not a.f", attributes)), undefined);
  });

  it("is the first part of `and` that is not true, as deep as `and` goes", () => {
    const failing = (text: string) => firstFailing(traced(text, attributes))?.text;
    assert.equal(failing("a.t and a.x == 1 and a.f"), "a.x == 1");
    assert.equal(failing("a.t and a.f and a.x"), "a.f");
    assert.equal(failing("a.f"), "a.f");
    assert.equal(failing("a.t and (a.f or a.x == 2) and a.f"), "a.f or a.x == 2");
    assert.equal(failing("a.t and not (a.t and a.t)"), "not (a.t and a.t)");
  });

  it("goes into an `and` within an `and`", () => {
    const attribute = (name: string): Expression => ({ op: "attribute", path: ["a", name] });
    const inner: Expression = { op: "and", args: [attribute("t"), attribute("f")] };
    const trace = explain({ op: "and", args: [attribute("t"), inner] }, attributes);
    assert.equal(firstFailing(trace)?.text, "a.f");
    assert.equal(firstFailing(explain({ op: "and", args: [] }, attributes))?.op, "and");
  });
});

describe("IR that no compiler made", () => {
  it("is unknown beyond a depth, and never overflows", () => {
    const nested = (levels: number): Expression => {
      let deep: Expression = { op: "literal", value: true };
      for (let level = 0; level < levels; level++) deep = { op: "not", arg: deep };
      return deep;
    };
    assert.equal(evaluate(nested(100_000), {}), undefined);
    assert.equal(explain(nested(20_000), {}).verdict, "unknown");
    assert.ok(formatExpression(nested(100_000)).endsWith("not …"));
  });

  it("is unknown where it is empty or of a later version", () => {
    assert.equal(evaluate({ op: "and", args: [] }, {}), undefined);
    assert.equal(evaluate({ op: "or", args: [] }, {}), undefined);
    assert.equal(evaluate({ op: "attribute", path: [] }, { a: true }), undefined);
    assert.equal(evaluate({ op: "exists", path: [] }, { a: true }), false);
    assert.equal(evaluate({ op: "xor" } as unknown as Expression, {}), undefined);
    assert.equal(evaluate({ op: "literal", value: NaN }, {}), undefined);
  });

  it("reads own members only, accessors and classes included", () => {
    class User {
      readonly #admin = true;
      get admin(): boolean {
        return this.#admin;
      }
    }
    const values = { user: new User() } as unknown as Attributes;
    assert.equal(evaluate({ op: "attribute", path: ["user", "admin"] }, values), undefined);
    const inherited = Object.create({ admin: true }) as Attributes;
    assert.equal(evaluate({ op: "attribute", path: ["admin"] }, inherited), undefined);
    const bare = Object.assign(Object.create(null) as object, { admin: true }) as Attributes;
    assert.equal(evaluate({ op: "attribute", path: ["admin"] }, bare), true);
  });
});
