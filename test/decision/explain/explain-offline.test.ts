import { withoutParts } from "./without-parts.ts";
import assert from "node:assert/strict";
import { explainAnswer, explainOffline } from "../../../src/decision/explain/explain-offline.ts";
import { decideOffline, type OfflineRequest } from "../../../src/decision/explain/offline.ts";
import { renderAnswer, renderExplanation } from "../../../src/decision/explain/render-explanation.ts";
import { accessOf, snapshotOf, type RequestParts } from "../support.ts";
import type { SampleAnswer } from "../../../src/policy/suite/index.ts";

const POLICIES = `
graphql: { limits: { depth: 5 } }
policies:
  - { name: read, resource: "GET /people/{id}", condition: exists(user.id) }
  - { name: whole, resource: "POST /graphql", condition: user.role != "nobody" }
response_filters:
  - name: pay
    endpoint: GET /people/{id}
    filter_rules:
      - { field: salary, condition: user.role != "hr", action: remove }
      - { field: phone, condition: item.owner != user.id, action: mask, replacement: hidden }
      - { field: $.trace, condition: response.status >= 500 and user.role == "hr", action: remove }
response_masks:
  - { api_pattern: /people/*, fields: [{ name: ssn, condition: user.clearance < 3, mask_type: partial }] }
  - { api_pattern: /people/me, fields: [{ name: pin, condition: "true", mask_type: full }] }
graphql_policies:
  - { query: people, condition: user.role == "hr" or args.limit <= 10 }
  - { name: no pay, query: person.salary, condition: user.role == "hr", on_deny: null }
  - { mutation: fire, condition: user.role == "hr" }
`;
const snapshot = snapshotOf(POLICIES);

async function explained(parts: RequestParts, more: Partial<OfflineRequest> = {}) {
  const offline = await decideOffline(snapshot, {
    raw: accessOf(parts).raw,
    lookup: () => undefined,
    now: Date.UTC(2026, 0, 31, 12),
    ...more,
  });
  return explainOffline(offline);
}

const answerOf = (body: unknown, parts: Partial<SampleAnswer> = {}): SampleAnswer => ({
  status: 200,
  headers: [],
  text: typeof body === "string" ? body : JSON.stringify(body),
  ...parts,
});
const viewer = { user: { id: "u-1", role: "viewer" } };
const hr = { user: { id: "u-2", role: "hr", clearance: 1 } };

describe("decision: explained answers", () => {
  const person = { path: "/people/7" };

  it("name the fields of every reading of the path, each rule once", async () => {
    for (const path of ["/people/me", "/people/me.json"]) {
      const { decision, explanation } = await explained({ path }, viewer);
      assert.deepEqual(
        explanation.fields.map(({ field }) => field),
        ["salary", "phone", "$.trace", "ssn", "pin"],
        path,
      );
      const others = renderExplanation(decision, explanation).match(/^also permitted as .*$/gm) ?? [];
      assert.deepEqual(others, path.endsWith(".json") ? ["also permitted as GET /people/me"] : []);
    }
  });

  it("name every field of every rule, what the request decides, and what is left", async () => {
    const { explanation, evaluated } = await explained(person, viewer);
    assert.deepEqual(
      explanation.fields.map(({ rule, field, action, verdict, left }) => [
        rule.id,
        field,
        action,
        verdict ?? left,
      ]),
      [
        ["response_filters[0]", "salary", "remove", "true"],
        ["response_filters[0]", "phone", 'replace with "hidden"', 'item.owner != "u-1"'],
        ["response_filters[0]", "$.trace", "remove", "false"],
        ["response_masks[0]", "ssn", "partial", "unknown"],
      ],
    );
    assert.deepEqual(withoutParts(evaluated), [
      { rule: "policies[0]", verdict: "true" },
      { rule: "response_filters[0]", field: "salary", verdict: "true" },
      { rule: "response_filters[0]", field: "$.trace", verdict: "false" },
      { rule: "response_masks[0]", field: "ssn", verdict: "unknown" },
    ]);
  });

  it("say what each rule changes in a sample, and what comes out", async () => {
    const decided = await explained(person, viewer);
    const { outcome, fields, evaluated } = explainAnswer(
      decided,
      answerOf('{ "salary": 5, "phone":"1", "owner": "u-9", "ssn":"123-45-6789", "trace": 1 }'),
    );
    assert.ok(outcome.ok);
    assert.equal(outcome.text, '{ "phone":"hidden", "owner": "u-9", "ssn":"***6789", "trace": 1 }');
    assert.deepEqual(outcome.paths, ["$.salary", "$.phone", "$.ssn"]);
    assert.deepEqual(
      fields.map(({ field, masked }) => [field, masked]),
      [
        ["salary", ["$.salary"]],
        ["phone", ["$.phone"]],
        ["$.trace", undefined],
        ["ssn", ["$.ssn"]],
      ],
    );
    assert.deepEqual(withoutParts(evaluated), [
      { rule: "response_filters[0]", field: "phone", verdict: "true" },
    ]);
  });

  it("say what conditions came to where the sample has the field, and nothing where it has not", async () => {
    const decided = await explained(person, viewer);
    const phones = (...owners: unknown[]) =>
      explainAnswer(
        decided,
        answerOf(owners.map((owner) => ({ phone: "***", ...(owner !== undefined && { owner }) }))),
      ).evaluated.map(({ verdict }) => verdict);
    assert.deepEqual(phones(), []);
    assert.deepEqual(phones("u-9"), ["true"]);
    assert.deepEqual(phones("u-1"), ["false"]);
    assert.deepEqual(phones("u-1", "u-9"), ["true", "false"]);
    assert.deepEqual(phones(undefined), ["unknown"]);
    assert.deepEqual(phones(undefined, "u-1"), ["false"]);
  });

  it("read the sample's status and headers", async () => {
    const decided = await explained(person, hr);
    const traceOf = (status: number) => explainAnswer(decided, answerOf({ trace: 1 }, { status })).outcome;
    assert.deepEqual(traceOf(500), { ok: true, text: "{}", count: 1, paths: ["$.trace"] });
    assert.deepEqual(traceOf(404), { ok: true, text: '{"trace":1}', count: 0, paths: [] });
  });

  const untouched: readonly (readonly [string, SampleAnswer])[] = [
    ["nothing", answerOf("")],
    ["204", answerOf("x", { status: 204 })],
    ["304", answerOf("x", { status: 304 })],
  ];
  for (const [what, sample] of untouched) {
    it(`has nothing to look into: ${what}`, async () => {
      const { outcome } = explainAnswer(await explained(person, viewer), sample);
      assert.deepEqual(outcome, { ok: true, text: sample.text, paths: [] });
    });
  }

  const typed = (type: string, body = "{}") => answerOf(body, { headers: [["content-type", type]] });
  const withheld: readonly (readonly [string, string, SampleAnswer, number?])[] = [
    ["a page", "not_json", typed("text/html", "<p>")],
    ["two types", "not_json", typed("application/json, text/html")],
    ["another charset", "not_json", typed("application/json; charset=utf-16")],
    ["no JSON", "syntax", answerOf("{")],
    ["a compressed body", "compressed", answerOf({}, { headers: [["content-encoding", "GZIP"]] })],
    ["a part by status", "partial", answerOf({}, { status: 206 })],
    ["a part by header", "partial", answerOf({}, { headers: [["content-range", "bytes 0-1/2"]] })],
    ["a page of an error", "not_json", { ...typed("text/html", "<p>"), status: 404 }, 404],
    ["a broken error", "syntax", answerOf("{", { status: 500 }), 500],
    ["the page of a redirect", "not_json", { ...typed("text/html", "<p>"), status: 302 }, 302],
    [
      "a compressed error",
      "compressed",
      answerOf({}, { status: 403, headers: [["content-encoding", "br"]] }),
      403,
    ],
  ];
  for (const [what, reason, sample, status = 502] of withheld) {
    it(`withholds ${what}`, async () => {
      const answer = explainAnswer(await explained(person, viewer), sample);
      assert.deepEqual(answer.outcome, { ok: false, reason, status });
      assert.deepEqual(withoutParts(answer.evaluated), []);
      assert.equal(renderAnswer(answer), `the response is withheld (${status}): ${reason}\n`);
    });
  }

  it("takes every spelling of JSON for JSON", async () => {
    const decided = await explained(person, viewer);
    for (const type of [
      "application/json",
      "Application/Problem+JSON; charset=UTF-8",
      'text/json ; charset="utf8"',
      "application/json;profile=x",
    ]) {
      assert.equal(explainAnswer(decided, typed(type)).outcome.ok, true, type);
    }
    const identity = answerOf({}, { headers: [["content-encoding", "identity"]] });
    assert.equal(explainAnswer(decided, identity).outcome.ok, true);
  });

  it("cannot try streams, and says so", async () => {
    const decided = await explained(person, viewer);
    for (const type of ["text/event-stream", "application/x-ndjson; charset=utf-8"]) {
      assert.throws(() => explainAnswer(decided, typed(type)), /streams are not supported here/);
    }
  });

  it("leaves everything alone where no rule is for the request", async () => {
    const open = snapshotOf("default: allow");
    const offline = await decideOffline(open, { raw: accessOf().raw, lookup: () => undefined, now: 0 });
    const answer = explainAnswer(await explainOffline(offline), answerOf("<p>", { status: 206 }));
    assert.deepEqual(answer, { outcome: { ok: true, text: "<p>", paths: [] }, fields: [], evaluated: [] });
    assert.equal(renderAnswer(answer), "the response is delivered unchanged\n\n<p>\n");
  });

  it("are rendered for people", async () => {
    const decided = await explained(person, viewer);
    const text = renderExplanation(decided.decision, decided.explanation);
    assert.match(text, /^in the response:$/m);
    assert.match(text, /^ {2}salary: remove {2}GET \/people\/\{id\} {2}pay {2}\(test\.yaml:\d+\)$/m);
    assert.match(text, /^ {4}unless this is false: item\.owner != "u-1"$/m);
    assert.match(text, /^ {2}\$\.trace: not masked /m);
    const answer = renderAnswer(explainAnswer(decided, answerOf({ ssn: "12345" })));
    assert.equal(
      answer,
      'the response is delivered with changes:\n  $.ssn  partial, response_masks[0]\n\n{"ssn":"***2345"}\n',
    );
  });

  it("are of no interest where the request is denied, or never came to a rule", async () => {
    const denied = await explained(person);
    assert.deepEqual(denied.explanation.fields, []);
    assert.deepEqual(withoutParts(denied.evaluated), [{ rule: "policies[0]", verdict: "unknown" }]);
    const refused = await explained({ path: "/a//b" }, viewer);
    assert.deepEqual([refused.explanation, refused.evaluated], [{ near: [], fields: [] }, []]);
  });
});

describe("decision: explained operations", () => {
  const operation = (query: string, more = viewer, payload: object = {}) => {
    const body = JSON.stringify({ query, ...payload });
    const headers = [["content-type", "application/json"]] as const;
    return explained({ method: "POST", path: "/graphql", headers, body }, more);
  };

  it("name the rules at each field, with the arguments that they saw", async () => {
    const { decision, explanation, evaluated } = await operation(
      "query($n: Int) { all: people(limit: $n) { salary } }",
      viewer,
      {
        variables: { n: 50 },
      },
    );
    assert.equal(decision.reason, "GRAPHQL_DENIED");
    const { operation: found, rule, near } = explanation;
    assert.equal(found?.verdict, "denied");
    assert.deepEqual(
      found.rules.map(({ rule, path, verdict }) => [rule.resource, path, verdict]),
      [["query people", "all", "false"]],
    );
    const [, args] = found.rules[0]!.condition.children;
    assert.deepEqual(args?.reads, [{ path: "args.limit", state: "present", value: 50 }]);
    assert.deepEqual(found.denied, [
      {
        path: "all",
        code: "ACCESS_DENIED",
        message: 'access to "all" is denied',
        rule: "graphql_policies[0]",
      },
    ]);
    assert.equal(rule?.name, "whole");
    assert.deepEqual(near, []);
    assert.deepEqual(withoutParts(evaluated), [
      { rule: "policies[1]", verdict: "true" },
      { rule: "graphql_policies[0]", verdict: "false" },
    ]);
  });

  it("say what comes back null", async () => {
    const { decision, explanation } = await operation("{ people(limit: 1) { Person: salary } }");
    assert.equal(decision.verdict, "ALLOW");
    assert.equal(explanation.operation?.verdict, "allowed");
    const nested = snapshotOf(
      "graphql_policies: [{ query: a, condition: true }, { query: a.b, condition: false, on_deny: null }]",
    );
    const body = '{"query":"{ a { x: b } }"}';
    const headers = [["content-type", "application/json"]] as const;
    const raw = accessOf({ method: "POST", path: "/graphql", headers, body }).raw;
    const offline = await decideOffline(nested, { raw, lookup: () => undefined, now: 0 });
    const decided = await explainOffline(offline);
    assert.deepEqual(decided.explanation.operation?.denied, [
      {
        path: "a.x",
        code: "ACCESS_DENIED",
        message: 'access to "a.x" is denied',
        rule: "graphql_policies[1]",
      },
    ]);
    const text = renderExplanation(decided.decision, decided.explanation);
    assert.match(text, /^the operation is allowed$/m);
    assert.match(text, /^ {2}a\.x is returned as null: access to "a\.x" is denied$/m);
    const { outcome } = explainAnswer(decided, answerOf({ data: { a: { x: 1 } } }));
    assert.ok(outcome.ok);
    assert.deepEqual(JSON.parse(outcome.text), {
      data: { a: { x: null } },
      errors: [
        { message: 'access to "a.x" is denied', path: ["a", "x"], extensions: { code: "ACCESS_DENIED" } },
      ],
    });
  });

  it("say why an operation is refused", async () => {
    for (const [query, message] of [
      ["{", /GRAPHQL_MALFORMED/],
      ["{ a { b { c { d { e { f } } } } } }", /GRAPHQL_LIMIT_EXCEEDED/],
    ] as const) {
      const { decision, explanation } = await operation(query);
      assert.equal(explanation.operation?.verdict, "refused");
      assert.ok(explanation.operation.message);
      assert.match(renderExplanation(decision, explanation), message);
    }
    const get = await explained({ method: "DELETE", path: "/graphql" }, viewer);
    assert.deepEqual(get.explanation.operation?.verdict, "refused");
  });

  it("are not asked about the page of an endpoint", async () => {
    const offline = await decideOffline(
      snapshotOf(
        'policies: [{ resource: "GET /graphql", condition: true }]\ngraphql_policies: [{ query: a, condition: false }]',
      ),
      {
        raw: accessOf({ path: "/graphql", headers: [["accept", "text/html"]] }).raw,
        lookup: () => undefined,
        now: 0,
      },
    );
    const { decision, explanation } = await explainOffline(offline);
    assert.equal(decision.reason, "CONDITION_TRUE");
    assert.equal(explanation.operation, undefined);
  });

  it("are not asked where a path rule denies", async () => {
    const { decision, explanation, evaluated } = await operation("{ people }", {
      user: { id: "u", role: "nobody" },
    });
    assert.equal(decision.reason, "CONDITION_FALSE");
    assert.equal(explanation.operation, undefined);
    assert.deepEqual(withoutParts(evaluated), [{ rule: "policies[1]", verdict: "false" }]);
  });

  it("are rendered for people", async () => {
    const { decision, explanation } = await operation("mutation { fire }");
    const text = renderExplanation(decision, explanation);
    assert.match(text, /^the operation is denied$/m);
    assert.match(text, /^ {2}fire: ACCESS_DENIED, access to "fire" is denied$/m);
    assert.match(text, /^field fire: mutation fire {2}graphql_policies\[2\] {2}\(test\.yaml:\d+\)$/m);
    assert.match(text, /^ {2}false {3}user\.role == "hr"$/m);
  });
});
