import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { MAX_CASES, parseSuite } from "../../../src/policy/suite/index.ts";
import type { Suite } from "../../../src/policy/suite/types.ts";
import { UNAVAILABLE } from "../../../src/policy/value.ts";
import { one } from "./support.ts";
import { DEMO_POLICIES } from "../../support/demo-policies.ts";
import { runs } from "../../support/runs.ts";

const parse = (text: string) => parseSuite({ name: "a.test.yaml", text });

function suiteOf(text: string): Suite {
  const { suite, diagnostics } = parse(text);
  assert.deepEqual(diagnostics, []);
  assert.ok(suite);
  return suite;
}

const inputOf = (...lines: string[]) => suiteOf(one(...lines)).cases[0]!.input;

describe("policy suite: parse", () => {
  it("reads a whole test", () => {
    const suite = suiteOf(`policy_set: default
people: { manager: { id: u-2, role: manager, customer_id: c-1 } }
tests:
  - name: a manager reads a customer
    request:
      method: GET
      path: /api/customers/c-1?page=2
      host: api.example.com
      client_ip: 192.0.2.1
      headers: { X-A: v, x-b: [v, w], x-n: 5, x-e: "" }
      body: { a: [1, true, null, "x"], "__proto__": { b: 2 } }
    user: manager
    customer: { id: c-9, status: active }
    attributes: { target_user: { department: sales }, other: unavailable }
    env: { time: "2026-01-01T00:00:00Z", environment: production }
    expect: deny
    reason: CONDITION_FALSE
    rule: policies[0]
`);
    assert.equal(suite.file, "a.test.yaml");
    assert.equal(suite.policySet, "default");
    assert.deepEqual(suite.cases, [
      {
        name: "a manager reads a customer",
        at: { file: "a.test.yaml", line: 4, column: 5 },
        input: {
          request: {
            method: "GET",
            path: "/api/customers/c-1?page=2",
            host: "api.example.com",
            clientIp: "192.0.2.1",
            headers: [
              ["x-a", "v"],
              ["x-b", "v"],
              ["x-b", "w"],
              ["x-n", "5"],
              ["x-e", ""],
            ],
            body: JSON.parse('{"a":[1,true,null,"x"],"__proto__":{"b":2}}') as object,
          },
          user: { id: "u-2", role: "manager", customer_id: "c-1" },
          customer: { id: "c-9", status: "active" },
          attributes: { target_user: { department: "sales" }, other: UNAVAILABLE },
          env: { time: "2026-01-01T00:00:00Z", environment: "production" },
        },
        expected: { decision: "deny", reason: "CONDITION_FALSE", rule: "policies[0]" },
      },
    ]);
  });

  it("takes a request as one line, and GET where a mapping names no method", () => {
    assert.deepEqual(inputOf("request: DELETE /a/b?c=d e").request, {
      method: "DELETE",
      path: "/a/b?c=d e",
      headers: [],
    });
    assert.deepEqual(inputOf("request: { path: /a }").request, { method: "GET", path: "/a", headers: [] });
  });

  it("lets a test send what the gateway is to refuse", () => {
    for (const path of ["//a", "/a/../b", "/%2e%2e/a", "/a;b", "/a%2fb", "/%", "/a%00"]) {
      assert.equal(inputOf(`request: { path: "${path}" }`).request.path, path);
    }
  });

  it("knows who is asking: a name, a mapping, or nobody", () => {
    assert.deepEqual(inputOf("user: ann").user, { id: "u-1", customer_id: "c-1" });
    assert.deepEqual(inputOf("user: { id: u-9 }").user, { id: "u-9" });
    for (const nobody of [inputOf(), inputOf("user: none")]) {
      assert.equal("user" in nobody, false);
      assert.equal("customer" in nobody, false);
    }
  });

  it("takes the customer from the user, as a token does, unless the test says otherwise", () => {
    assert.deepEqual(inputOf("user: ann").customer, { id: "c-1" });
    assert.deepEqual(inputOf("user: { id: u-9, customer_id: 7 }").customer, { id: 7 });
    assert.deepEqual(inputOf("user: ann", "customer: { status: active }").customer, { status: "active" });
    assert.equal("customer" in inputOf("user: ann", "customer: none"), false);
    assert.equal("customer" in inputOf("user: { id: u-9 }"), false);
  });

  it("writes tables out, in the order of the file", () => {
    const suite = suiteOf(`policy_set: default
people: { ann: { id: u-1 } }
matrix:
  - name: table
    headers: { x-a: v }
    attributes: { target_user: unavailable }
    env: { environment: test }
    customer: { id: c-1 }
    people:    [ann, none]
    requests:
      GET /a:  [allow, deny]
      PUT /b?: [deny,  deny]
tests:
  - { name: last, request: GET /, expect: allow }
`);
    assert.deepEqual(
      suite.cases.map(({ name, at, expected }) => [name, at.line, at.column, expected.decision]),
      [
        ["table: ann, GET /a", 11, 17, "allow"],
        ["table: none, GET /a", 11, 24, "deny"],
        ["table: ann, PUT /b?", 12, 17, "deny"],
        ["table: none, PUT /b?", 12, 24, "deny"],
        ["last", 14, 5, "allow"],
      ],
    );
    assert.deepEqual(suite.cases[2]!.input, {
      request: { method: "PUT", path: "/b?", headers: [["x-a", "v"]] },
      user: { id: "u-1" },
      customer: { id: "c-1" },
      attributes: { target_user: UNAVAILABLE },
      env: { environment: "test" },
    });
    assert.equal("user" in suite.cases[3]!.input, false);
  });

  it("gives people called like members of every object no attributes they don't have", () => {
    assert.equal(parse(one("user: constructor")).diagnostics[0]!.code, "unknown-person");
    const { user } = inputOf('user: { "__proto__": { role: admin } }');
    assert.equal((user as { role?: unknown }).role, undefined);
    assert.ok(Object.hasOwn(user!, "__proto__"));
  });
});

describe("policy suite: hostile files", () => {
  const row = (cells: number) => `[${Array.from({ length: cells }, () => "none").join(",")}]`;

  it("refuses a table of more cases than a file may hold, before it is written out", () => {
    const requests = Array.from({ length: 101 }, (_, index) => `      GET /${index}: *row\n`).join("");
    const text = `policy_set: a\nmatrix:\n  - name: x\n    people: ${row(100)}\n    requests:\n      GET /row: &row [allow]\n${requests}`;
    assert.deepEqual(
      parse(text).diagnostics.map(({ code }) => code),
      ["too-many-cases"],
    );
  });

  it("refuses more tests than a file may hold, and takes as many as it may", () => {
    const tests = (count: number) =>
      `policy_set: a\ntests:\n${Array.from({ length: count }, (_, n) => `- {name: t${n}, request: GET /, expect: deny}\n`).join("")}`;
    assert.deepEqual(
      parse(tests(MAX_CASES + 1)).diagnostics.map(({ code }) => code),
      ["too-many-cases"],
    );
    assert.equal(parse(tests(MAX_CASES)).suite?.cases.length, MAX_CASES);
  });

  it("ends on aliases that multiply, and on deep nesting", () => {
    const levels = Array.from({ length: 30 }, (_, n) => `  a${n + 1}: &a${n + 1} [*a${n}, *a${n}, *a${n}]\n`);
    const bomb = parse(`policy_set: a\npeople:\n  a0: &a0 [x]\n${levels.join("")}`);
    assert.equal(bomb.suite, undefined);
    const deep = parse(`policy_set: a\npeople: ${"[".repeat(100_000)}`);
    assert.equal(deep.suite, undefined);
  });

  it("never throws, whatever becomes of a good file, and reports only positions that exist", () => {
    const good = readFileSync(join(DEMO_POLICIES, "default.test.yaml"), "utf8");
    const edit = fc.record({
      at: fc.nat(good.length),
      remove: fc.nat(40),
      insert: fc.oneof(
        fc.string({ maxLength: 6, unit: "binary" }),
        fc.constantFrom(": ", "- ", "[", "{", "&a ", "*a", "\n", '"'),
      ),
    });
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 3 }), (edits) => {
        let text = good;
        for (const { at, remove, insert } of edits)
          text = text.slice(0, at) + insert + text.slice(at + remove);
        const { suite, diagnostics } = parse(text);
        const lines = text.split(/\r\n?|\n/);
        for (const { line, column, length } of diagnostics) {
          assert.ok(line >= 1 && line <= lines.length && column >= 1 && length >= 1);
        }
        if (suite === undefined) assert.ok(diagnostics.some(({ severity }) => severity === "error"));
        else assert.ok(suite.cases.length > 0);
      }),
      { numRuns: runs(60) },
    );
  });
});
