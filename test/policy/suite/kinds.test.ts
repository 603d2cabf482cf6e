import assert from "node:assert/strict";
import { parseSuite } from "../../../src/policy/suite/index.ts";
import { one } from "./support.ts";

function caseOf(...lines: string[]) {
  const { suite, diagnostics } = parseSuite({ name: "a.test.yaml", text: one(...lines) });
  assert.deepEqual(diagnostics, []);
  return suite!.cases[0]!;
}

const findings = (...lines: string[]) =>
  parseSuite({ name: "a.test.yaml", text: one(...lines) }).diagnostics.map(
    ({ line, column, code }) => `${line}:${column} ${code}`,
  );

describe("policy suite: answers", () => {
  it("reads a sample answer and what is to become of it", () => {
    const { answer, expected } = caseOf(
      'response: { status: 404, headers: { X-A: [v, w] }, body: { ssn: "123", n: [1.5, null] } }',
      "expect_body: { ssn: null }",
      "masked: [$.ssn, '$.n[*]']",
    );
    assert.deepEqual(answer, {
      status: 404,
      headers: [
        ["x-a", "v"],
        ["x-a", "w"],
      ],
      text: '{"ssn":"123","n":[1.5,null]}',
    });
    assert.deepEqual(expected.answer, { body: { json: { ssn: null } }, masked: ["$.ssn", "$.n[*]"] });
  });

  it("takes a string as the very text, and answers 200 with nothing where little is said", () => {
    const raw = caseOf(`response: { body: '{"a": 1, "a": 2}' }`, `expect_body: '{"a": "***", "a": "***"}'`);
    assert.deepEqual(raw.answer, { status: 200, headers: [], text: '{"a": 1, "a": 2}' });
    assert.deepEqual(raw.expected.answer, { body: { text: '{"a": "***", "a": "***"}' } });
    const empty = caseOf("response: {}");
    assert.deepEqual(empty.answer, { status: 200, headers: [], text: "" });
    assert.equal("answer" in empty.expected, false);
    assert.deepEqual(caseOf("response: {}", "expect_refused: true").expected.answer, { refused: true });
  });

  const wrong: readonly (readonly [what: string, lines: readonly string[], ...expected: string[]])[] = [
    ["a response that is no mapping", ["response: 200"], "7:15 wrong-type"],
    ["unknown keys", ["response: { code: 200 }"], "7:17 unknown-key"],
    ["a status that is none", ["response: { status: 99 }"], "7:25 invalid-value"],
    ["a body that JSON has not", ["response: { body: [.nan] }"], "7:24 not-json"],
    ["an expected body that JSON has not", ["response: {}", "expect_body: .inf"], "8:18 not-json"],
    ["paths that are none", ["response: {}", "masked: [5, [a]]"], "8:14 wrong-type", "8:17 wrong-type"],
    ["a refusal that is none", ["response: {}", "expect_refused: false"], "8:21 invalid-value"],
    [
      "a refused answer with a body",
      ["response: {}", "expect_refused: true", "expect_body: {}", "masked: []"],
      "9:5 unexpected-key",
      "10:5 unexpected-key",
    ],
    [
      "expectations of no answer",
      ["expect_body: {}", "expect_refused: true", "masked: []"],
      "7:5 unexpected-key",
      "7:5 unexpected-key",
      "8:5 unexpected-key",
      "9:5 unexpected-key",
      "9:5 unexpected-key",
    ],
    ["an answer to a denied request", ["expect: deny", "response: {}"], "7:5 unexpected-key"],
  ];
  for (const [what, lines, ...expected] of wrong) {
    it(`reports ${what}`, () => {
      assert.deepEqual(findings(...lines), expected);
    });
  }
});

describe("policy suite: GraphQL", () => {
  it("reads an operation, in short and at length", () => {
    const short = caseOf('graphql: "{ customers { id } }"');
    assert.deepEqual(short.input.request, {
      method: "POST",
      headers: [],
      body: { query: "{ customers { id } }" },
    });
    const { input, expected } = caseOf(
      'graphql: { path: /api/graphql, query: "query A { a }", variables: { id: 5 }, operationName: A, headers: { x-a: b } }',
      "denied: [a, a.b]",
    );
    assert.deepEqual(input.request, {
      method: "POST",
      path: "/api/graphql",
      headers: [["x-a", "b"]],
      body: { query: "query A { a }", variables: { id: 5 }, operationName: "A" },
    });
    assert.deepEqual(expected.denied, ["a", "a.b"]);
  });

  const wrong: readonly (readonly [what: string, lines: readonly string[], ...expected: string[]])[] = [
    ["an operation that is a list", ["graphql: [a]"], "6:14 wrong-type"],
    ["an operation that is a number", ["graphql: 5"], "6:14 wrong-type"],
    ["an operation without a document", ["graphql: { path: /g }"], "6:14 missing-key"],
    [
      "members of wrong types",
      ["graphql: { path: g, query: 5, variables: x, operationName: [a] }"],
      "6:22 invalid-path",
      "6:32 wrong-type",
      "6:46 wrong-type",
      "6:64 wrong-type",
    ],
    ["denied fields that are no list", ["graphql: a", "denied: a.b"], "7:13 wrong-type"],
    ["denied fields of a request", ["denied: [a]"], "7:5 unexpected-key"],
    ["two subjects", ["request: GET /", "graphql: a"], "7:5 unexpected-key"],
  ];
  for (const [what, lines, ...expected] of wrong) {
    it(`reports ${what}`, () => {
      assert.deepEqual(findings(...lines), expected);
    });
  }
});

describe("policy suite: WebSocket", () => {
  it("reads a handshake and messages", () => {
    const { input, messages } = caseOf(
      "websocket: { path: /ws/orders, headers: { Sec-WebSocket-Protocol: x } }",
      "messages:",
      "  - { send: { type: ping, n: [1] }, expect: allow, rule: pings }",
      "  - { send: '{\"type\":', expect: deny }",
      "  - { receive: { type: pong }, expect: allow, delivered: { type: pong } }",
      "  - { receive: null, expect: allow, delivered: 'null' }",
    );
    const { method, path, headers } = input.request;
    assert.deepEqual([method, path], ["GET", "/ws/orders"]);
    assert.deepEqual(Object.fromEntries(headers), {
      upgrade: "websocket",
      connection: "Upgrade",
      "sec-websocket-version": "13",
      "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
      "sec-websocket-protocol": "x",
    });
    assert.deepEqual(
      messages!.map(({ at, direction, text, expected }) => [at.line, direction, text, expected]),
      [
        [8, "send", '{"type":"ping","n":[1]}', { decision: "allow", rule: "pings" }],
        [9, "send", '{"type":', { decision: "deny" }],
        [10, "receive", '{"type":"pong"}', { decision: "allow", delivered: { json: { type: "pong" } } }],
        [11, "receive", "null", { decision: "allow", delivered: { text: "null" } }],
      ],
    );
    assert.equal(caseOf("websocket: /ws").input.request.path, "/ws");
    assert.equal("messages" in caseOf("websocket: /ws"), false);
  });

  const wrong: readonly (readonly [what: string, lines: readonly string[], ...expected: string[]])[] = [
    ["a handshake that is a list", ["websocket: [/ws]"], "6:16 wrong-type"],
    ["a handshake that is a number", ["websocket: 5"], "6:16 wrong-type"],
    ["a handshake without a path", ["websocket: { headers: {} }"], "6:16 missing-key"],
    ["a path that is none", ["websocket: ws://a/b"], "6:16 invalid-path"],
    ["messages that are no list", ["websocket: /", "messages: {}"], "7:15 wrong-type"],
    ["a message that is no mapping", ["websocket: /", "messages: [ping]"], "7:16 wrong-type"],
    [
      "a message of nothing",
      ["websocket: /", "messages: [{ rule: a }]"],
      "7:16 missing-key",
      "7:16 missing-key",
    ],
    [
      "a message in both directions",
      ["websocket: /", "messages: [{ send: {}, receive: {}, expect: allow }]"],
      "7:28 unexpected-key",
    ],
    [
      "what a message has not",
      ["websocket: /", "messages: [{ send: {}, expect: maybe, rule: 5, typ: a }]"],
      "7:36 invalid-value",
      "7:49 wrong-type",
      "7:52 unknown-key",
    ],
    [
      "what is delivered of a denied message",
      ["websocket: /", "messages: [{ receive: {}, expect: deny, delivered: {} }]"],
      "7:45 unexpected-key",
    ],
    ["messages of a request", ["messages: []"], "7:5 unexpected-key"],
    ["an answer to a handshake", ["websocket: /", "response: {}"], "7:5 unexpected-key"],
    [
      "messages of a denied connection",
      ["websocket: /", "expect: deny", "messages: []"],
      "7:5 unexpected-key",
    ],
  ];
  for (const [what, lines, ...expected] of wrong) {
    it(`reports ${what}`, () => {
      assert.deepEqual(findings(...lines), expected);
    });
  }
});
