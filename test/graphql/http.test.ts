import assert from "node:assert/strict";
import { graphqlErrorBody, evaluateGraphql, readGraphqlRequest } from "../../src/graphql/index.ts";
import type { GraphqlPlanIR } from "../../src/policy/index.ts";
import { ODD_NAMES, outcomeOf, posted, readSent } from "./support/requests.ts";

const MALFORMED = "GRAPHQL_MALFORMED";

const got = (target: string, sent: Parameters<typeof readSent>[0] = {}) =>
  outcomeOf(readSent({ method: "GET", target, ...sent }));
const payload = (query: string, variables: object = {}) => ({ query, variables });
const encoded = encodeURIComponent;

/** What was read, without the prototypes that JSON and URLs are read to. */
function plain(value: unknown): unknown {
  return typeof value === "string" ? value : JSON.parse(JSON.stringify(value));
}

describe("GraphQL over HTTP: POST", () => {
  it("takes JSON in UTF-8", () => {
    const types = [
      "application/json",
      "Application/JSON",
      "application/json; charset=utf-8",
      'application/json;charset="UTF-8"',
      "application/json ; charset=utf-8 ",
    ];
    for (const type of types) {
      assert.deepEqual(plain(outcomeOf(posted({ query: "{ é }", variables: { x: [1] } }, { type }))), [
        payload("{ é }", { x: [1] }),
      ]);
    }
  });

  it("refuses every other content type", () => {
    const types = [
      "application/graphql",
      "application/graphql+json",
      "application/graphql-response+json",
      "application/x-www-form-urlencoded",
      "text/plain",
      "application/jsonp",
      "application/json; charset=utf-16",
      "application/json; charset=utf-8; charset=utf-8",
      "application/json; x=y",
      "application/json;",
      "application/json, text/plain",
      "multipart/form-data; boundary=x",
    ];
    for (const type of types) assert.equal(outcomeOf(posted({ query: "{ a }" }, { type })), MALFORMED, type);
    assert.equal(outcomeOf(readSent({ body: '{"query":"{ a }"}' })), MALFORMED);
  });

  it("refuses variables of too many values", () => {
    const list = (length: number) =>
      posted({ query: "{ a }", variables: { x: Array<number>(length).fill(1) } });
    assert.equal(outcomeOf(list(10_000)), "GRAPHQL_LIMIT_EXCEEDED");
    assert.ok(Array.isArray(outcomeOf(list(9_000))));
    const batch = Array<object>(2).fill({ query: "{ a }", variables: { x: Array<number>(5_000).fill(1) } });
    assert.equal(outcomeOf(posted(batch)), "GRAPHQL_LIMIT_EXCEEDED");
  });

  it("refuses a content type that stands there twice", () => {
    const twice = [["content-type", "application/json"]] as const;
    assert.equal(outcomeOf(posted({ query: "{ a }" }, { headers: twice })), MALFORMED);
  });

  it("refuses a body that is compressed, cut, missing, or not UTF-8", () => {
    const good = { query: "{ a }" };
    const length = (value: number) => ({ headers: [["content-length", `${value}`]] as const });
    assert.ok(posted(good, { headers: [["content-encoding", "identity"]] }).ok);
    assert.ok(posted(good, length(JSON.stringify(good).length)).ok);
    const bad = [
      posted(good, { headers: [["content-encoding", "gzip"]] }),
      posted(good, { headers: [["content-encoding", "identity, br"]] }),
      posted(good, { complete: false }),
      posted(good, length(5)),
      readSent({ type: "application/json" }),
      readSent({ type: "application/json", body: '{"query":"{ a(x: \\"\xe9\\") }"}' }),
    ];
    for (const read of bad) assert.equal(outcomeOf(read), MALFORMED);
  });

  it("refuses JSON that is read in several ways", () => {
    const bad = [
      '{"query":"{ a }","query":"{ a }"}',
      '{"query":"{ a }","qu\\u0065ry":"{ secret }"}',
      '{"query":"{ a }"} {}',
      "\ufeff{}",
      '{"query":"{ a }",}',
      "{'query':'{ a }'}",
      `{"query":"{ a }","variables":${"[".repeat(500)}${"]".repeat(500)}}`,
    ];
    for (const json of bad) assert.equal(outcomeOf(posted(json)), MALFORMED, json.slice(0, 40));
  });

  it("keeps numbers that no double holds apart from what is missing", () => {
    const read = posted(
      '{"query":"{ a }","variables":{"x":[9007199254740993,1e400,0.1,2.50],"__proto__":1e999}}',
    );
    assert.ok(read.ok);
    const { variables } = read.payloads[0]!;
    assert.deepEqual(variables["x"], [NaN, NaN, 0.1, 2.5]);
    assert.deepEqual(Object.keys(variables), ["x", "__proto__"]);
    assert.ok(Number.isNaN(Object.getOwnPropertyDescriptor(variables, "__proto__")?.value));
  });

  it("takes batches of ten", () => {
    const batch = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ query: `{ f${index} }` }));
    const read = posted(batch(10));
    assert.ok(read.ok && read.batch);
    assert.deepEqual(
      read.payloads.map(({ query }) => query),
      batch(10).map(({ query }) => query),
    );
    assert.equal(outcomeOf(posted(batch(11))), "GRAPHQL_LIMIT_EXCEEDED");
    for (const bad of [[], [[{ query: "{ a }" }]], [{ query: "{ a }" }, null], [{ query: "{ a }", id: 1 }]]) {
      assert.equal(outcomeOf(posted(bad)), MALFORMED);
    }
  });

  it("refuses parameters of the URL that ask for an operation, too", () => {
    const names = [
      ..."query variables operationName extensions id documentId queryId hash persistedQuery".split(" "),
      ..."Query doc_id document-id query[] variables[x] variables.x extensions[persistedQuery] sha256Hash".split(
        " ",
      ),
      ...ODD_NAMES,
    ];
    for (const name of names) {
      const target = `/graphql?${encoded(name)}=x`;
      assert.equal(outcomeOf(posted({ query: "{ a }" }, { target })), MALFORMED, name);
    }
    assert.ok(posted({ query: "{ a }" }, { target: "/graphql?trace=1&op=Name" }).ok);
  });

  it("takes queries and mutations, not subscriptions", () => {
    const read = posted({ query: "{ a }" });
    assert.ok(read.ok);
    assert.deepEqual([read.kinds, read.nullable, read.batch], [["query", "mutation"], true, false]);
  });
});

describe("GraphQL over HTTP: GET", () => {
  it("takes the four parameters", () => {
    const target = `/graphql?query=${encoded("query Q($x: Int) { a(x: $x) }")}&operationName=Q&variables=${encoded('{"x":1}')}&extensions={}`;
    const [read] = got(target.replace("{}", "%7B%7D")) as readonly unknown[];
    assert.deepEqual(plain(read), {
      ...payload("query Q($x: Int) { a(x: $x) }", { x: 1 }),
      operationName: "Q",
    });
    assert.deepEqual(plain(got("/graphql?query=%7Ba%7D")), [payload("{a}")]);
    assert.deepEqual(plain(got("/graphql?query=%7B+a+%7D", { method: "HEAD" })), [payload("{ a }")]);
    const empty = ["variables=null", "variables=&operationName=&extensions="];
    for (const more of empty)
      assert.deepEqual(plain(got(`/graphql?query=%7Ba%7D&${more}`)), [payload("{a}")], more);
  });

  it("takes queries alone", () => {
    const read = readSent({ method: "GET", target: "/graphql?query=%7Ba%7D" });
    assert.ok(read.ok);
    assert.deepEqual([read.kinds, read.nullable, read.batch], [["query"], true, false]);
  });

  it("refuses every other parameter, and any of them twice", () => {
    const more = [
      "query=%7Ba%7D",
      "variables=%7B%7D&variables=%7B%7D",
      "id=1",
      "documentId=1",
      "hash=1",
      "Query=1",
      "query%5B%5D=1",
      "variables%5Bx%5D=1",
      "x=1",
      "toString=1",
      "__proto__=1",
    ];
    for (const parameter of more)
      assert.equal(got(`/graphql?query=%7Ba%7D&${parameter}`), MALFORMED, parameter);
  });

  it("refuses what is not well-formed", () => {
    const bad = [
      "/graphql",
      "/graphql?query=",
      "/graphql?variables=%7B%7D",
      "/graphql?query=&variables=",
      "/graphql?query=%7Ba%7D&variables=x",
      "/graphql?query=%7Ba%7D&variables=%5B%5D",
      `/graphql?query=%7Ba%7D&variables=${encoded('{"x":1,"x":2}')}`,
    ];
    for (const target of bad) assert.equal(got(target), MALFORMED, target);
  });

  it("refuses a body, which some servers read", () => {
    const target = "/graphql?query=%7Ba%7D";
    assert.ok(readSent({ method: "GET", target, body: "" }).ok);
    assert.equal(got(target, { type: "application/json", body: '{"query":"{ b }"}' }), MALFORMED);
    assert.equal(got(target, { headers: [["content-length", "9"]] }), MALFORMED);
    assert.equal(got(target, { body: "", complete: false }), MALFORMED);
  });

  it("takes no other method", () => {
    for (const method of ["PUT", "DELETE", "PATCH", "OPTIONS", "QUERY"]) {
      assert.equal(got("/graphql?query=%7Ba%7D", { method }), MALFORMED, method);
    }
  });
});

describe("GraphQL over HTTP: verdicts", () => {
  const plan: GraphqlPlanIR = {
    rules: [
      { rule: "a", operation: "query", field: "a", onDeny: "reject" },
      { rule: "secret", operation: "query", field: "secret", onDeny: "reject", when: false },
      { rule: "null", operation: "query", field: "nullable", onDeny: "null", when: false },
      { rule: "m", operation: "mutation", field: "a", onDeny: "reject" },
      { rule: "s", operation: "subscription", field: "a", onDeny: "reject" },
    ],
    limits: { depth: 5, aliases: 2, rootFields: 5, tokens: 20 },
    introspection: "deny",
    default: "deny",
  };
  const evaluated = (read: ReturnType<typeof readSent>) => {
    assert.ok(read.ok, JSON.stringify(read));
    return evaluateGraphql(plan, read, { env: {} });
  };
  const verdictOf = (read: ReturnType<typeof readSent>) => {
    const verdict = evaluated(read);
    return verdict.kind === "refused" ? verdict.code : verdict.kind;
  };
  const get = (query: string) => readSent({ method: "GET", target: `/graphql?query=${encoded(query)}` });

  it("are refusals where comments, blanks or strings are longer than the limit of tokens lets expect", () => {
    const long = 100_001;
    const texts = [
      `{ a } #${"c".repeat(long)}`,
      `{ a ${" ".repeat(long)} }`,
      `{ a ${",".repeat(long)} }`,
      `{ a(x: "${"s".repeat(long)}") }`,
      `{ a(x: """${"\n s".repeat(long / 3)}""") }`,
    ];
    for (const query of texts) assert.equal(verdictOf(posted({ query })), "GRAPHQL_LIMIT_EXCEEDED");
    const half = { query: `{ a } #${"c".repeat(50_000)}` };
    assert.equal(verdictOf(posted([half, half])), "GRAPHQL_LIMIT_EXCEEDED");
    assert.equal(verdictOf(posted({ query: `{ a } #${"c".repeat(90_000)}` })), "allowed");
  });

  it("are the same by POST, by GET, and in a batch", () => {
    for (const query of [
      "{ a }",
      "{ secret }",
      "{ x: secret }",
      "query A { a } query B { secret }",
      "{ a } type T",
    ]) {
      const verdict = verdictOf(posted({ query }));
      assert.equal(verdictOf(get(query)), verdict);
      assert.equal(verdictOf(posted([{ query }])), verdict);
      assert.equal(verdictOf(posted([{ query: "{ a }" }, { query }])), verdict);
    }
  });

  it("mutations come by POST alone, subscriptions not at all", () => {
    assert.equal(verdictOf(posted({ query: "mutation { a }" })), "allowed");
    assert.equal(verdictOf(get("mutation { a }")), MALFORMED);
    const both = "query A { a } mutation B { a }";
    assert.equal(verdictOf(posted({ query: both, operationName: "A" })), "allowed");
    const target = `/graphql?query=${encoded(both)}&operationName=A`;
    assert.equal(verdictOf(readSent({ method: "GET", target })), MALFORMED);
    assert.equal(verdictOf(posted({ query: "subscription { a }" })), MALFORMED);
    assert.equal(verdictOf(get("subscription { a }")), MALFORMED);
  });

  it("a batch is denied where one of its operations is", () => {
    const verdict = evaluated(
      posted([{ query: "{ a }" }, { query: "{ x: secret gone }" }, { query: "{ secret }" }]),
    );
    assert.ok(verdict.kind === "denied");
    assert.deepEqual(
      verdict.denials.map(({ path }) => path.join(".")),
      ["x", "gone", "secret"],
    );
  });

  it("a batch shares its limits", () => {
    const query = "{ a a a }";
    assert.equal(verdictOf(posted(Array(4).fill({ query }))), "allowed");
    assert.equal(verdictOf(posted(Array(5).fill({ query }))), "GRAPHQL_LIMIT_EXCEEDED");
    assert.equal(verdictOf(posted([{ query: "{ x: a y: a }" }, { query: "{ a }" }])), "allowed");
    assert.equal(
      verdictOf(posted([{ query: "{ x: a y: a }" }, { query: "{ x: a }" }])),
      "GRAPHQL_LIMIT_EXCEEDED",
    );
  });

  it("fields come back null where one document is answered, not in a batch", () => {
    const verdict = evaluated(posted({ query: "{ a x: nullable }" }));
    assert.deepEqual(verdict, {
      kind: "allowed",
      nulls: [{ rule: "null", anchored: true, keys: ["data", "x"], action: { kind: "null" } }],
      errors: [{ message: 'access to "x" is denied', path: ["x"], extensions: { code: "ACCESS_DENIED" } }],
      events: [],
    });
    assert.equal(verdictOf(get("{ a x: nullable }")), "allowed");
    assert.equal(verdictOf(posted([{ query: "{ nullable }" }])), "denied");
    assert.equal(verdictOf(posted([{ query: "{ a }" }, { query: "{ nullable }" }])), "denied");
  });

  it("say in GraphQL's way what is denied, and no data", () => {
    const verdict = evaluated(posted({ query: "{ __schema { types { name } } x: secret { y } }" }));
    assert.ok(verdict.kind === "denied");
    assert.deepEqual(JSON.parse(graphqlErrorBody(verdict.denials)), {
      errors: [
        {
          message: "introspection is denied",
          path: ["__schema"],
          extensions: { code: "INTROSPECTION_DENIED" },
        },
        { message: 'access to "x" is denied', path: ["x"], extensions: { code: "ACCESS_DENIED" } },
      ],
    });
    const refused = posted("{}");
    assert.ok(!refused.ok);
    assert.deepEqual(JSON.parse(graphqlErrorBody([refused])), {
      errors: [{ message: "an operation has no `query`", extensions: { code: MALFORMED } }],
    });
  });

  it("tell what each rule came to", () => {
    const seen: unknown[] = [];
    const read = posted({ query: "{ a(x: 1) { b } x: secret gone }" });
    assert.ok(read.ok);
    evaluateGraphql(plan, read, {
      env: {},
      evaluated: ({ rule, path, args, verdict, event }) =>
        seen.push([rule, path.join("."), { ...args }, verdict, event]),
    });
    assert.deepEqual(seen, [
      ["a", "a", { x: 1 }, true, false],
      ["secret", "x", {}, false, false],
    ]);
  });

  it("never say anything of a document that is not well-formed but where", () => {
    const verdict = evaluated(posted({ query: "{ a\n  <script> }" }));
    assert.ok(verdict.kind === "refused");
    assert.equal(verdict.message, "GraphQL syntax error at line 2, column 3");
  });

  it("leave faults of our own to the caller, who denies", () => {
    const read = posted({ query: "{ a }" });
    assert.ok(read.ok);
    const fault = () => {
      throw new RangeError("broken");
    };
    assert.throws(() => evaluateGraphql(new Proxy(plan, { get: fault }), read, { env: {} }), RangeError);
    const request = new Proxy({} as Parameters<typeof readGraphqlRequest>[0], { get: fault });
    assert.throws(() => readGraphqlRequest(request, { multipart: "deny" }, String), RangeError);
  });
});
