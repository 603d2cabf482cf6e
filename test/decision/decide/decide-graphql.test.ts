import assert from "node:assert/strict";
import type { RunningTokenVerifier } from "../../../src/identity/index.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import {
  accessOf,
  bearer,
  deciderOf,
  outcome,
  snapshotOf,
  verifierFor,
  type RequestParts,
} from "../support.ts";

describe("decision: GraphQL", () => {
  let issuer: TestIssuer;
  let verifier: RunningTokenVerifier;
  before(async () => {
    issuer = await startIssuer();
    verifier = verifierFor(issuer);
    await verifier.start();
  });
  after(async () => {
    verifier.close();
    await issuer.close();
  });
  const decide = async (parts: RequestParts) => deciderOf(set, { verifier })(accessOf(parts));

  const set = snapshotOf(`
policies:
- { resource: POST /locked, condition: user.role == "admin" }
graphql: { paths: [/graphql, /locked, "/of/{tenant}"], limits: { depth: 2 } }
graphql_policies:
- { query: me, condition: true }
- { query: salary, condition: user.role == "admin" }
- { query: notes, condition: user.role == "admin", on_deny: "null" }
- { query: tenant, condition: path.tenant == "t-1" }
response_masks:
- api_pattern: /graphql
  fields: [{ name: ssn, condition: user.role != "admin", mask_type: full }]
`);
  const run = async (query: string, claims: object | undefined = {}, path = "/graphql") => {
    const body = JSON.stringify({ query });
    const headers = [
      ["content-type", "application/json"],
      ["content-length", String(body.length)],
      bearer(await issuer.token({ ...claims })),
    ] as const;
    return decide({ method: "POST", path, headers, body });
  };

  it("judges the operation, and needs no rule for the path", async () => {
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
  it("lets connections come about, for their operations are judged one by one", async () => {
    const headers = [
      ["connection", "upgrade"],
      ["upgrade", "websocket"],
    ] as const;
    const decision = await decide({ path: "/graphql", headers });
    assert.equal(outcome(decision), "ALLOW GRAPHQL_CONNECTION");
    assert.deepEqual(decision.plan?.websocket?.graphql?.rules.length, 4);
    assert.equal(decision.plan.websocket.plain, false);
    assert.equal(outcome(await decide({ path: "/elsewhere", headers })), "DENY NO_MATCHING_RULE");
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
