import assert from "node:assert/strict";
import { parseSuite } from "../../../src/policy/suite/index.ts";
import { one } from "./support.ts";

const parse = (text: string) => parseSuite({ name: "a.test.yaml", text });

/** Findings as `line:column code`; their words follow the project's style. */
function findings(text: string): string[] {
  const { suite, diagnostics } = parse(text);
  if (diagnostics.some(({ severity }) => severity === "error")) assert.equal(suite, undefined);
  return diagnostics.map(({ line, column, code, message, severity, file, length }) => {
    assert.equal(file, "a.test.yaml");
    assert.ok(length >= 1);
    assert.match(message, /^(?:[a-z`]|JSON).*[^.]$/);
    return `${line}:${column} ${severity === "warning" ? "warning " : ""}${code}`;
  });
}

describe("policy suite: findings", () => {
  const cases: readonly (readonly [what: string, text: string, ...expected: string[]])[] = [
    ["a file that is no mapping", "[]", "1:1 wrong-type"],
    [
      "unknown keys, with the nearest",
      "policy_sets: x\nzzzzzzzzzzzzz: 1",
      "1:1 missing-key",
      "1:1 unknown-key",
      "2:1 unknown-key",
    ],
    ["a file without tests", "policy_set: a\ntests: []", "1:1 no-tests"],
    [
      "a policy set that is no name",
      "policy_set: [a]\ntests: [{ name: a, request: GET /, expect: allow }]",
      "1:13 wrong-type",
    ],
    ["lists that are none", "policy_set: a\ntests: {}\nmatrix: x", "2:8 wrong-type", "3:9 wrong-type"],
    ["tests that are none", "policy_set: a\ntests: [x]\nmatrix: [y]", "2:9 wrong-type", "3:10 wrong-type"],
    [
      "a test without what it needs",
      "policy_set: a\ntests:\n  - user: none",
      "3:5 missing-key",
      "3:5 missing-key",
      "3:5 missing-key",
    ],
    ["an empty name", one('name: ""'), "6:11 empty-value"],
    ["a name that is a number", one("name: 5"), "6:11 wrong-type"],
    [
      "a name used twice",
      "policy_set: a\ntests: [{ name: x, request: GET /, expect: deny }]\nmatrix: [{ name: x, people: [none], requests: { GET /: [deny] } }]",
      "3:18 duplicate-name",
    ],
    ["a misspelled key of a test", one("usr: ann"), "7:5 unknown-key"],
    ["a misspelled person", one("user: anm"), "7:11 unknown-person"],
    ["a user that is a list", one("user: [ann]"), "7:11 wrong-type"],
    ["a user that is nothing", one("user:"), "7:9 wrong-type"],
    [
      "people that are none",
      "policy_set: a\npeople: 5\ntests: [{ name: a, request: GET /, expect: deny }]",
      "2:9 wrong-type",
    ],
    [
      "a person that is none, and one called none",
      "policy_set: a\npeople: { ann: 5, none: {} }\ntests: [{ name: a, request: GET /, expect: deny }]",
      "2:16 wrong-type",
      "2:19 reserved-name",
    ],
    ["a customer that is none", one("customer: c-1"), "7:15 wrong-type"],
    ["what is not allow or deny", one("expect: allowed"), "6:13 invalid-value"],
    ["an expectation that is a list", one("expect: [allow]"), "6:13 wrong-type"],
    ["a reason that is no code", one("reason: condition false"), "7:13 invalid-reason"],
    ["a rule that is a number", one("rule: 0"), "7:11 wrong-type"],
    ["a request that is no line", one("request: /a"), "6:14 invalid-request"],
    ["a request that is a list", one("request: [GET, /]"), "6:14 wrong-type"],
    ["a request that is a number", one("request: 5"), "6:14 wrong-type"],
    ["paths that don't begin with a slash", one("request: GET api"), "6:14 invalid-path"],
    ["a URL for a path", one("request: { path: 'http://a/b' }"), "6:22 invalid-path"],
    ["a request without a path", one("request: { method: PUT }"), "6:14 missing-key"],
    [
      "a path and a method that are no strings",
      one("request: { path: 5, method: [GET] }"),
      "6:22 wrong-type",
      "6:33 wrong-type",
    ],
    ["a method in small letters, which is a warning", one("request: get /"), "6:14 warning method-case"],
    ["a method that is none", one('request: { path: /, method: "G(T" }'), "6:33 invalid-method"],
    [
      "headers",
      one('request: { path: /, headers: { "a b": v, x-a: { b: c }, x-b: } }'),
      "6:36 invalid-header",
      "6:51 wrong-type",
      "6:64 wrong-type",
    ],
    ["headers that are none", one("request: { path: /, headers: x }"), "6:34 wrong-type"],
    ["numbers that JSON has not", one("request: { path: /, body: [.inf] }"), "6:32 not-json"],
    [
      "attributes",
      one("attributes: { user: {}, target_user: sales }"),
      "7:19 reserved-name",
      "7:42 wrong-type",
    ],
    ["attributes that are none", one("attributes: x"), "7:17 wrong-type"],
    ["an environment", one("env: { tiem: x, environment: 5 }"), "7:12 unknown-key", "7:34 wrong-type"],
    ...["2026-01-01", "2026-02-30T00:00:00Z", "2026-01-01T00:00:00.5Z", "2026-01-01T25:00:00Z"].map(
      (time) => [`the time ${time}`, one(`env: { time: "${time}" }`), "7:18 invalid-time"] as const,
    ),
    [
      "a table without what it needs",
      "policy_set: a\nmatrix:\n  - name: x",
      "3:5 missing-key",
      "3:5 missing-key",
    ],
    [
      "rows and cells",
      "policy_set: a\nmatrix:\n  - name: x\n    people: [none, bob, [c]]\n    requests:\n      GET /: [allow, maybe, [deny]]\n      GET /b: [allow]\n      nonsense: deny",
      "4:20 unknown-person",
      "4:25 wrong-type",
      "6:22 invalid-value",
      "6:29 wrong-type",
      "7:15 wrong-length",
      "8:7 invalid-request",
      "8:17 wrong-type",
    ],
  ];
  for (const [what, text, ...expected] of cases) {
    it(what, () => {
      assert.deepEqual(findings(text), expected);
    });
  }

  it("a warning alone leaves the suite usable", () => {
    assert.equal(parse(one("request: get /")).suite?.cases.length, 1);
  });

  it("what the YAML reader finds is reported too", () => {
    assert.match(findings("policy_set: a\npolicy_set: b\ntests: []").join("\n"), /duplicate-key/);
    assert.match(findings("a: [").join("\n"), /yaml-syntax/);
    assert.equal(parse("").suite, undefined);
    assert.notDeepEqual(findings(""), []);
  });

  it("names what was probably meant", () => {
    const hint = (text: string) => parse(text).diagnostics.map((finding) => finding.hint);
    assert.deepEqual(hint(one("user: anm")), ["did you mean `ann`?"]);
    assert.deepEqual(hint(one("usr: ann")), ["did you mean `user`?"]);
    assert.deepEqual(hint(one("expect: allowed")), ["did you mean `allow`?"]);
    assert.deepEqual(hint(one("request: get /")), ["did you mean `GET`?"]);
    assert.match(hint(one("user: zzzzzzzzz"))[0]!, /`ann`, `none`/);
    assert.match(hint(one("request: { path: 'http://a/' }"))[0]!, /scheme/);
  });
});
