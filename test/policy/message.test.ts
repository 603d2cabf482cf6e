import assert from "node:assert/strict";
import { compileCondition, parseCondition } from "../../src/policy/index.ts";
import { evaluateMessage, readMessage } from "../../src/policy/message/index.ts";
import type { PlannedMessage } from "../../src/policy/plan.ts";

function when(text: string) {
  const { ast } = parseCondition(text);
  assert.ok(ast, text);
  return compileCondition(ast, text).expression;
}

const FIELD = { rule: "m", anchored: false, keys: ["a"], action: { kind: "full" } } as const;
const RULES: Readonly<Record<string, PlannedMessage>> = {
  free: { rule: "free", onDeny: "drop", fields: [FIELD] },
  never: { rule: "never", onDeny: "close", when: false, fields: [FIELD] },
  mine: { rule: "mine", onDeny: "drop", when: when('message.id == "a"') },
  noon: { rule: "noon", onDeny: "drop", when: when("env.hour == 12") },
  none: { rule: "none", onDeny: "drop", when: when("not exists(message.x)") },
  below: { rule: "below", onDeny: "drop", when: when('not (message.a.b == "no")') },
  "é😀": { rule: "é", onDeny: "drop" },
  "": { rule: "empty", onDeny: "drop" },
};

const evaluate = (text: string) => evaluateMessage(RULES, text, { env: { hour: 12 } });
const codeOf = (text: string) => evaluate(text).code;

describe("policy message: evaluate", () => {
  it("permits what its rule permits", () => {
    assert.deepEqual(evaluate('{"type":"free"}'), {
      permit: true,
      code: "PERMITTED",
      type: "free",
      rule: "free",
      onDeny: "drop",
      fields: [FIELD],
    });
    for (const text of [
      ' { "a" : [1, {"type": "never"}] , "type" : "mine", "id":"a" } ',
      '{"type":"mine","id":"\\u0061"}',
      '{"type":"noon"}',
      '{"type":"none"}',
      '{"type":"below","a":{"b":"yes"}}',
      '{"type":"é😀"}',
      '{"type":"\\u00e9\\ud83d\\ude00"}',
      '{"type":""}',
    ]) {
      assert.equal(codeOf(text), "PERMITTED", text);
    }
  });

  it("reads no more values than it is told", () => {
    const text = '{"type":"free","a":[1]}';
    assert.equal(evaluateMessage(RULES, text, { env: {}, values: 4 }).code, "PERMITTED");
    assert.equal(evaluateMessage(RULES, text, { env: {}, values: 3 }).code, "UNREADABLE");
    assert.equal(readMessage(text, 3), undefined);
  });

  it("says how a denied message is denied", () => {
    assert.deepEqual(evaluate('{"type":"never"}'), {
      permit: false,
      code: "CONDITION",
      type: "never",
      rule: "never",
      onDeny: "close",
      fields: [],
    });
    assert.deepEqual(evaluate('{"type":"other"}'), {
      permit: false,
      code: "UNLISTED",
      type: "other",
      onDeny: "drop",
      fields: [],
    });
    assert.deepEqual(evaluate("[]"), { permit: false, code: "UNREADABLE", onDeny: "drop", fields: [] });
  });

  it("denies what is no object with one type", () => {
    for (const text of [
      ...[
        "",
        " ",
        "null",
        '"free"',
        "1",
        "[]",
        '[{"type":"free"}]',
        "{",
        '{"type":"free"',
        '{"type":"free"}x',
      ],
      ...[
        "{}",
        '{"a":{"type":"free"}}',
        '{"Type":"free"}',
        '{"type":null}',
        '{"type":["free"]}',
        '{"type":{}}',
      ],
      ...[
        '{"type":"free","type":"free"}',
        '{"type":"free","\\u0074ype":"free"}',
        '{"\\u0074ype":"free"}',
        '{"type":5,"type":"free"}',
      ],
      ...[
        '{"type":"\\ud800"}',
        '\ufeff{"type":"free"}',
        "{'type':'free'}",
        '{"type":"free",}',
        '{"type":"fr\nee"}',
      ],
      ...['{"type":"free"}{"type":"free"}', '{"type":"free\ud800"}'],
      `{"type":"free","a":${"[".repeat(300)}${"]".repeat(300)}}`,
    ]) {
      assert.equal(codeOf(text), "UNREADABLE", text);
    }
  });

  it("lists types by name alone", () => {
    for (const type of ["Free", "free ", "constructor", "__proto__", "toString"]) {
      assert.equal(codeOf(JSON.stringify({ type })), "UNLISTED", type);
    }
  });

  it("takes what is unknown for no permission", () => {
    for (const text of [
      '{"type":"mine"}',
      '{"type":"mine","id":1}',
      '{"type":"mine","id":"b"}',
      '{"type":"mine","id":"a","id":"a"}',
      '{"type":"mine","id":"b","\\u0069d":"a"}',
      '{"type":"none","x":null}',
      '{"type":"none","x":1,"x":1}',
      '{"type":"below"}',
      '{"type":"below","a":{"b":"yes","b":"yes"}}',
      '{"type":"below","a":{"b":"yes"},"a":{"b":"yes"}}',
      '{"type":"below","a":{"b":"\\udc00"}}',
    ]) {
      assert.equal(codeOf(text), "CONDITION", text);
    }
    const later = evaluateMessage(RULES, '{"type":"noon"}', { env: {} });
    assert.equal(later.code, "CONDITION");
  });

  it("denies what has a name that could be read as one that its rule reads", () => {
    for (const text of [
      '{"type":"free","Type":"never"}',
      '{"type ":1,"type":"free"}',
      '{"type":"mine","id":"a","ID":"b"}',
      '{"type":"mine","Id":"a"}',
      '{"type":"none","X":1}',
      '{"type":"below","a":{"b":"yes","B":"no"}}',
      '{"type":"below","A":{"b":"yes"}}',
      '{"type":"below","a.b":"no","a":{"b":"yes"}}',
      '{"type":"below","a":[{"b":"yes"}]}',
      '{"type":"never","TYPE":"free"}',
    ]) {
      assert.equal(codeOf(text), "AMBIGUOUS", text);
    }
    assert.equal(evaluate('{"type":"never","Type":"free"}').onDeny, "close");
    // names that the rule does not read, and those of types that no rule lists
    assert.equal(codeOf('{"type":"free","ID":1,"x":{"Type":1},"types":[{"Type":2}]}'), "PERMITTED");
    assert.equal(codeOf('{"type":"other","Type":"free"}'), "UNLISTED");
  });

  it("takes no number for another", () => {
    const rules = { n: { rule: "n", onDeny: "drop", when: when("message.n == 9007199254740992") } } as const;
    const permits = (n: string) => evaluateMessage(rules, `{"type":"n","n":${n}}`, { env: {} }).permit;
    assert.equal(permits("9007199254740992"), true);
    assert.equal(permits("9007199254740992.0"), true);
    assert.equal(permits("9007199254740993"), false);
  });

  it("reads messages for explanations", () => {
    assert.deepEqual(readMessage('{"a":[1]}'), { a: [1] });
    assert.equal(readMessage("[1]"), undefined);
    assert.equal(readMessage("{"), undefined);
  });
});
