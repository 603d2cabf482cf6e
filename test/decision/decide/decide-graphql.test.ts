import assert from "node:assert/strict";
import { auditRecord } from "../../../src/decision/point/record.ts";
import {
  accessOf,
  bearer,
  deciderOf,
  outcome,
  snapshotOf,
  useIssuer,
  type RequestParts,
} from "../support.ts";

describe("decision: GraphQL", () => {
  const idp = useIssuer();
  const decide = async (parts: RequestParts) => deciderOf(set, { verifier: idp.verifier })(accessOf(parts));

  const set = snapshotOf(`
policies:
- { resource: POST /locked, condition: user.role == "admin" }
graphql: { paths: [/graphql, /locked, "/of/{tenant}"], limits: { depth: 2 } }
graphql_policies:
- { query: me, condition: true }
- { query: salary, condition: user.role == "admin" }
- { query: notes, condition: user.role == "admin", on_deny: "null" }
- { query: tenant, condition: path.tenant == "t-1" }
- { subscription: order, condition: order.customer == user.customer_id and order.id == args.id }
response_masks:
- api_pattern: /graphql
  fields: [{ name: ssn, condition: user.role != "admin", mask_type: full }]
`);
  const run = async (query: string, claims: object | undefined = {}, path = "/graphql") => {
    const body = JSON.stringify({ query });
    const headers = [
      ["content-type", "application/json"],
      ["content-length", String(body.length)],
      bearer(await idp.token({ ...claims })),
    ] as const;
    return decide({ method: "POST", path, headers, body });
  };

  it("evaluates the operation, and needs no rule for the path", async () => {
    assert.equal(outcome(await run("{ me { id } }")), "ALLOW GRAPHQL_ALLOWED");
    const denied = await run("{ me { id } salary }");
    assert.equal(outcome(denied), "DENY GRAPHQL_DENIED");
    assert.deepEqual(
      denied.graphqlErrors?.map(({ path }) => path),
      [["salary"]],
    );
    assert.equal(outcome(await run("{ me { id } salary }", { role: "admin" })), "ALLOW GRAPHQL_ALLOWED");
  });
  it("needs the path's rule as well where there is one", async () => {
    assert.equal(outcome(await run("{ me { id } }", {}, "/locked")), "DENY CONDITION_UNKNOWN");
    assert.equal(outcome(await run("{ me { id } }", { role: "admin" }, "/locked")), "ALLOW GRAPHQL_ALLOWED");
  });
  it("knows the path's parameters", async () => {
    assert.equal(outcome(await run("{ tenant { id } }", {}, "/of/t-1")), "ALLOW GRAPHQL_ALLOWED");
    assert.equal(outcome(await run("{ tenant { id } }", {}, "/of/t-2")), "DENY GRAPHQL_DENIED");
  });
  it("refuses what cannot be read, and what is too much", async () => {
    assert.equal(outcome(await run("{ me { id ")), "DENY GRAPHQL_MALFORMED");
    assert.equal(outcome(await run("{ me { a { b } } }")), "DENY GRAPHQL_LIMIT_EXCEEDED");
    assert.equal(outcome(await decide({ method: "POST", path: "/graphql" })), "DENY GRAPHQL_MALFORMED");
    assert.equal(outcome(await decide({ method: "POST", path: "/GraphQL" })), "DENY AMBIGUOUS_CASE");
  });
  it("refuses a hash alone with the error after which clients send the document", async () => {
    const body = JSON.stringify({ extensions: { persistedQuery: { version: 1, sha256Hash: "0" } } });
    const headers = [
      ["content-type", "application/json"],
      ["content-length", String(body.length)],
    ] as const;
    const denied = await decide({ method: "POST", path: "/graphql", headers, body });
    assert.equal(outcome(denied), "DENY PERSISTED_QUERY_NOT_SUPPORTED");
    assert.deepEqual(denied.graphqlErrors?.[0], {
      message: "PersistedQueryNotSupported",
      extensions: { code: "PERSISTED_QUERY_NOT_SUPPORTED" },
    });
  });
  it("leaves the events of a subscription in an event stream to the gateway", async () => {
    const body = JSON.stringify({ query: 'subscription { order(id: "7") { customer id } }' });
    const subscribe = async (accept: string) =>
      decide({
        method: "POST",
        path: "/graphql",
        headers: [
          ["content-type", "application/json"],
          ["content-length", String(body.length)],
          ["accept", accept],
          bearer(await idp.token({ customer_id: "c-1" })),
        ],
        body,
      });
    assert.equal(outcome(await subscribe("application/json")), "DENY GRAPHQL_MALFORMED");
    const { plan } = await subscribe("text/event-stream");
    const [event] = plan?.response?.events?.conditions ?? [];
    assert.deepEqual([event?.key, event?.roots, event?.members], ["order", ["order"], []]);
    assert.match(JSON.stringify(event?.when), /"c-1".*"7"/, "user and arguments are known");
  });
  it("lets connections come about, for their operations are evaluated one by one", async () => {
    const headers = [
      ["connection", "upgrade"],
      ["upgrade", "websocket"],
    ] as const;
    const decision = await decide({ path: "/graphql", headers });
    assert.equal(outcome(decision), "ALLOW GRAPHQL_CONNECTION");
    assert.deepEqual(decision.plan?.websocket?.graphql?.rules.length, 5);
    assert.equal(decision.plan.websocket.plain, false);
    assert.equal(outcome(await decide({ path: "/elsewhere", headers })), "DENY NO_MATCHING_RULE");
  });
  describe("below an endpoint, and in other letter case", () => {
    const below = snapshotOf(`
policies:
- { resource: "* /graphql/**", condition: exists(user.id) }
- { resource: "GET /of/{tenant}/graphql", condition: true }
graphql: { paths: [/graphql, "/of/{tenant}/graphql/**"], other_paths: ["GET /graphql/health", "* /graphql/assets/**", "POST /graphql/Hook"] }
graphql_policies:
- { query: me, condition: true }
- { query: salary, condition: user.role == "admin" }
- { query: tenant, condition: path.tenant == "t-1" }
response_masks:
- { api_pattern: /graphql, fields: [{ name: ssn, condition: true, mask_type: full }] }
- { api_pattern: /graphql/v2, fields: [{ name: card, condition: true, mask_type: full }] }
- { api_pattern: /graphql.json, fields: [{ name: iban, condition: true, mask_type: full }] }
`);
    const lax = snapshotOf(
      `
policies: [{ resource: "* /**", condition: exists(user.id) }]
graphql: { other_paths: ["* /graphql/page"] }
graphql_policies: [{ query: me, condition: true }, { query: salary, condition: false }]
response_masks: [{ api_pattern: /graphql, fields: [{ name: ssn, condition: true, mask_type: full }] }]
`,
      true,
    );
    const send = async (policies: typeof below, path: string, query?: string, method = "POST") => {
      const body = query === undefined ? "" : JSON.stringify({ query });
      const headers = [
        ...(query === undefined ? [] : [["content-type", "application/json"] as const]),
        ["content-length", String(body.length)] as const,
        bearer(await idp.issuer.token({})),
      ];
      return deciderOf(policies, { verifier: idp.verifier })(accessOf({ method, path, headers, body }));
    };

    it("evaluates operations as at the endpoint, and masks their answers", async () => {
      for (const path of ["/graphql/x", "/graphql/x/y", "/graphql/X/"]) {
        assert.equal(outcome(await send(below, path, "{ me { id } salary }")), "DENY GRAPHQL_DENIED", path);
        const allowed = await send(below, path, "{ me { id } }");
        assert.equal(outcome(allowed), "ALLOW CONDITION_TRUE", path);
        assert.deepEqual(
          allowed.plan?.response?.fields.map(({ keys }) => keys.join(".")),
          ["ssn"],
        );
        assert.deepEqual(allowed.verdict === "ALLOW" ? allowed.alsoRead?.map((other) => other.path) : [], [
          "/graphql",
        ]);
      }
      assert.equal(outcome(await send(below, "/graphql/x", undefined)), "DENY GRAPHQL_MALFORMED");
      assert.equal(
        outcome(await send(below, "/graphql/x?query=%7Bsalary%7D", undefined, "GET")),
        "DENY GRAPHQL_DENIED",
      );
    });

    it("takes the parameters of the endpoint's path, and asks the rules for the path that was sent", async () => {
      assert.equal(outcome(await send(below, "/of/t-1/graphql", "{ tenant }")), "ALLOW GRAPHQL_ALLOWED");
      assert.equal(outcome(await send(below, "/of/t-2/graphql", "{ tenant }")), "DENY GRAPHQL_DENIED");
      // it may be a place of something else, and no rule is for it
      assert.equal(outcome(await send(below, "/of/t-1/graphql/x", "{ tenant }")), "DENY NO_MATCHING_RULE");
    });

    it("evaluates every letter case, whether or not the set tells letter case apart", async () => {
      assert.equal(outcome(await send(lax, "/GRAPHQL", "{ salary }")), "DENY GRAPHQL_DENIED");
      assert.equal(outcome(await send(lax, "/GraphQL/x", "{ salary }")), "DENY GRAPHQL_DENIED");
      const allowed = await send(lax, "/GraphQL", "{ me }");
      assert.equal(outcome(allowed), "ALLOW CONDITION_TRUE");
      assert.ok(allowed.plan?.response?.fields.every(({ keys }) => keys.join(".") === "ssn"));
      assert.equal(outcome(await send(below, "/GRAPHQL", "{ salary }")), "DENY AMBIGUOUS_CASE");
    });

    it("leaves alone what the set says is no endpoint", async () => {
      for (const path of ["/graphql/health", "/graphql/assets/app.js", "/graphql/assets"]) {
        const decision = await send(below, path, undefined, "GET");
        assert.equal(outcome(decision), "ALLOW CONDITION_TRUE", path);
      }
      assert.equal(outcome(await send(below, "/graphql/health/x", undefined)), "DENY GRAPHQL_MALFORMED");
      assert.equal(outcome(await send(below, "/graphql/Hook", "{ salary }")), "ALLOW CONDITION_TRUE");
      // another method, and another spelling, may reach the server
      for (const path of ["/graphql/health", "/graphql/hook"])
        assert.equal(outcome(await send(below, path, "{ salary }")), "DENY GRAPHQL_DENIED", path);
      assert.equal(outcome(await send(lax, "/graphql/page", "{ salary }")), "ALLOW CONDITION_TRUE");
      for (const path of [
        "/graphql/PAGE",
        "/graphql/page.",
        "/graphql/page%20",
        "/GRAPHQL/page",
        "/graphql/page/x",
      ])
        assert.equal(outcome(await send(lax, path, "{ salary }")), "DENY GRAPHQL_DENIED", path);
    });

    it("lets no operation rename what response rules for any reading of the request look for", async () => {
      for (const [path, name] of [
        ["/graphql/v2", "card"],
        ["/graphql/v2", "ssn"],
      ] as const) {
        assert.equal(outcome(await send(below, path, `{ me { ${name} } }`)), "ALLOW CONDITION_TRUE");
        assert.equal(outcome(await send(below, path, `{ me { x: ${name} } }`)), "DENY GRAPHQL_DENIED", name);
      }
      assert.equal(outcome(await send(below, "/graphql/x", "{ me { x: card } }")), "ALLOW CONDITION_TRUE");
    });

    it("records the rule that denied an operation rather than the one that let it in", async () => {
      const denied = await send(below, "/graphql/x/y", "{ salary }");
      const record = auditRecord(denied, { access: undefined, at: 0, decisionId: "d" }, 0, false);
      assert.deepEqual(
        [record.resource, record.rule, record.rule_resource],
        ["/graphql", "graphql_policies[1]", "query salary"],
      );
      const malformed = await send(below, "/graphql/x/y", "{");
      assert.equal(
        auditRecord(malformed, { access: undefined, at: 0, decisionId: "d" }, 0, false).rule,
        null,
      );
    });

    it("shows browsers the page of an endpoint where a path rule permits it, and no operation", async () => {
      const page = async (path: string, body = "", accept = "text/html,application/xhtml+xml;q=0.9") => {
        const headers = [
          ["accept", accept] as const,
          ["content-length", String(body.length)] as const,
          bearer(await idp.issuer.token({})),
        ];
        return outcome(await deciderOf(below, { verifier: idp.verifier })(accessOf({ path, headers, body })));
      };
      assert.equal(await page("/of/t-1/graphql"), "ALLOW CONDITION_TRUE");
      assert.equal(await page("/of/t-1/graphql?utm=x"), "ALLOW CONDITION_TRUE");
      for (const path of ["?query=%7Bsalary%7D", "?queryId=x", "?extensions=%7B%7D", "?x=%7Bsalary%7D"]) {
        assert.match(await page(`/of/t-1/graphql${path}`), /^DENY GRAPHQL_(?:DENIED|MALFORMED)$/, path);
      }
      assert.equal(await page("/of/t-1/graphql", '{"query":"{ salary }"}'), "DENY GRAPHQL_MALFORMED");
      assert.equal(await page("/of/t-1/graphql", "", "application/json"), "DENY GRAPHQL_MALFORMED");
      assert.equal(await page("/of/t-1/graphql", "", "text/html;q=0, */*"), "DENY GRAPHQL_MALFORMED");
      // below the endpoint the path may name a stored operation
      assert.equal(await page("/graphql/persisted/abc"), "DENY GRAPHQL_MALFORMED");
      assert.equal(await page("/graphql.html"), "DENY NO_MATCHING_RULE");
      // without a rule for the path there is no page
      assert.equal(outcome(await send(set, "/graphql", undefined, "GET")), "DENY GRAPHQL_MALFORMED");
    });
  });
  it("asks who it is before it says no", async () => {
    const body = '{"query":"{ salary }"}';
    const headers = [["content-type", "application/json"]] as const;
    const decision = await decide({ method: "POST", path: "/graphql", headers, body });
    assert.equal(outcome(decision), "DENY IDENTITY_REQUIRED");
  });
  it("plans what the answer must not hold", async () => {
    const response = (await run("{ me { id } n: notes }")).plan?.response;
    assert.ok(response);
    assert.deepEqual(
      response.fields.map(({ keys, action }) => [keys.join("."), action.kind]),
      [
        ["ssn", "full"],
        ["data.n", "null"],
      ],
    );
    assert.deepEqual(
      response.errors?.map(({ path }) => path),
      [["n"]],
    );
  });
  it("lets nobody rename what response rules look for", async () => {
    assert.equal(outcome(await run("{ me { ssn } }")), "ALLOW GRAPHQL_ALLOWED");
    assert.equal(outcome(await run("{ me { id: ssn } }")), "DENY GRAPHQL_DENIED");
    assert.equal(outcome(await run("{ me { id: ssn } }", { role: "admin" })), "ALLOW GRAPHQL_ALLOWED");
  });
});
