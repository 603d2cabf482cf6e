import assert from "node:assert/strict";
import { FINDING_CODES, parseCondition } from "../../../src/policy/condition/index.ts";
import { allCases } from "./cases.ts";

describe("parseCondition", () => {
  it("tells of every node where it stands", () => {
    const text = ' not user["x"] in ["a"] and (a.b or exists(c))';
    const { ast } = parseCondition(text);
    assert.ok(ast?.op === "and");
    const [first, second] = ast.args;
    assert.ok(
      first?.op === "not" && first.arg.op === "in" && second?.op === "or" && second.args[1]?.op === "exists",
    );
    const marked = [ast, first, first.arg, first.arg.value, first.arg.list, second, second.args[1].attribute];
    assert.deepEqual(
      marked.map(({ start, end }) => text.slice(start, end)),
      [
        text.trim(),
        'not user["x"] in ["a"]',
        'user["x"] in ["a"]',
        'user["x"]',
        '["a"]',
        "(a.b or exists(c))",
        "c",
      ],
    );
  });

  it("counts positions in UTF-16 units", () => {
    const text = 'a == "😀" and b == 01';
    assert.deepEqual(
      parseCondition(text).findings.map(({ start, end }) => [start, end]),
      [[text.indexOf("01"), text.length]],
    );
  });

  it("words what is wrong with the author's own text", () => {
    assert.deepEqual(parseCondition("user.role = “admin”").findings, [
      {
        severity: "error",
        code: "foreign-operator",
        message: "`=` is not a supported operator",
        hint: "write `==`",
        start: 10,
        end: 11,
      },
      {
        severity: "error",
        code: "lookalike-quote",
        message: "`“admin”` is not a string: these quotes are not supported",
        hint: "put strings in `\"` or `'`",
        start: 12,
        end: 19,
      },
    ]);
  });

  it("shortens long text in messages without cutting a character in half", () => {
    const [finding] = parseCondition(`a == "${"x".repeat(57)}😀${"y".repeat(99)}`).findings;
    assert.equal(finding?.message, `the string \`"${"x".repeat(57)}…\` is not closed`);
  });

  it("gives no hint where nothing is better", () => {
    assert.deepEqual(
      parseCondition("a)").findings.map(({ hint }) => hint),
      [undefined],
    );
  });

  it("stops looking after a bounded number of findings", () => {
    assert.equal(parseCondition("a == or ".repeat(1000)).findings.length, 20);
    assert.equal(parseCondition("a = 1 or ".repeat(1000) + "b").findings.length, 50);
  });

  it("starts afresh with every condition", () => {
    assert.equal(parseCondition("a == or ".repeat(1000)).findings.length, 20);
    assert.deepEqual(parseCondition("a == 1").findings, []);
    assert.equal(parseCondition("a == or b ==").findings.length, 2);
  });

  it("has a published case for every code", () => {
    const seen = new Set(
      [...allCases().values()]
        .flat()
        .flatMap(({ findings = [], errors, warnings }) => [...findings, ...errors, ...warnings]),
    );
    assert.deepEqual(
      FINDING_CODES.filter((code) => !seen.has(code)),
      [],
    );
  });
});
