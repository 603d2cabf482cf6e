import assert from "node:assert/strict";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import { accessOf, bearer, deciderOf, outcome, snapshotOf, verifierFor } from "../support.ts";

const OPERATIONS = `
graphql_policies:
  - { query: me, condition: exists(user.id) }
  - { query: payroll, condition: user.role == "admin" }
`;
const PATH = 'policies:\n  - { resource: "GET /graphql", condition: true }\n';
const CONNECTION = "websocket_policies:\n  - connection: { path: /graphql, condition: exists(user.id) }\n";
const ANY_CONNECTION = "websocket_policies:\n  - connection: { condition: true }\n";
const MASKS =
  "response_masks:\n  - { api_pattern: /graphql, fields: [{ name: ssn, condition: true, mask_type: full }] }\n";

/** However a set comes to permit the connection. */
const VARIANTS: Readonly<Record<string, string>> = {
  "GraphQL policies alone": "",
  "a path rule that permits": PATH,
  "an entry for the connection": CONNECTION,
  "an entry for every connection": ANY_CONNECTION,
  both: PATH + CONNECTION,
  "default allow": "default: allow\n",
  "default allow and a path rule": `default: allow\n${PATH}`,
  "response rules": PATH + MASKS,
  everything: `default: allow\n${PATH}${ANY_CONNECTION}${MASKS}`,
};

describe("decision: handshakes to a GraphQL endpoint", () => {
  let issuer: TestIssuer;
  let verifier: ReturnType<typeof verifierFor>;
  before(async () => {
    issuer = await startIssuer();
    verifier = verifierFor(issuer);
    await verifier.start();
  });
  after(async () => {
    verifier.close();
    await issuer.close();
  });

  const knock = async (
    set: string,
    path: string,
    more: readonly (readonly [name: string, value: string])[] = [],
  ) =>
    deciderOf(snapshotOf(set), { verifier })(
      accessOf({
        path,
        headers: [
          ["connection", "Upgrade"],
          ["upgrade", "websocket"],
          bearer(await issuer.token({ role: "viewer" })),
          ...more,
        ],
      }),
    );

  for (const [name, more] of Object.entries(VARIANTS)) {
    it(`carry no operation, and let no ordinary answer pass: ${name}`, async () => {
      const set = more + OPERATIONS;
      for (const query of [
        "query=%7Bpayroll%7Btotal%7D%7D",
        "id=payroll",
        "token=t&variables=%7B%7D",
        "%5Bquery%5D=x",
      ]) {
        const refused = await knock(set, `/graphql?${query}`);
        assert.equal(outcome(refused), "DENY GRAPHQL_MALFORMED", query);
        assert.equal(refused.graphqlErrors?.[0]?.extensions.code, "GRAPHQL_MALFORMED");
        assert.equal(refused.plan, undefined);
      }
      for (const path of ["/graphql", "/graphql?token=t&transport=websocket"]) {
        const decision = await knock(set, path);
        assert.equal(decision.verdict, "ALLOW", decision.reason);
        assert.equal(decision.plan?.websocket?.plain, false);
        assert.ok(decision.plan.websocket.graphql);
      }
    });
  }

  it("are evaluated by the path's rules first", async () => {
    const set = `policies:\n  - { resource: "GET /graphql", condition: user.role == "admin" }\n${OPERATIONS}`;
    assert.equal(outcome(await knock(set, "/graphql?query=%7Bme%7D")), "DENY CONDITION_FALSE");
  });

  it("that ask for GraphQL have their operations evaluated on every path", async () => {
    const everywhere = 'policies:\n  - { resource: "GET /**", condition: true }\n';
    const open = (set: string, path: string, ...protocols: string[]) =>
      knock(
        set,
        path,
        protocols.map((protocol) => ["sec-websocket-protocol", protocol] as const),
      );
    for (const protocols of [["graphql-transport-ws"], ["x", "Graphql-WS"], ["x, graphql-transport-ws"]]) {
      const decision = await open(everywhere + OPERATIONS, "/elsewhere", ...protocols);
      assert.equal(outcome(decision), "ALLOW CONDITION_TRUE");
      assert.equal(decision.plan?.websocket?.graphql?.rules.length, 2, protocols.join());
      assert.equal(decision.plan.websocket.plain, false);
      const carrying = await open(everywhere + OPERATIONS, "/elsewhere?query=%7Bpayroll%7D", ...protocols);
      assert.equal(outcome(carrying), "DENY GRAPHQL_MALFORMED");
    }
    const protocol = "graphql-transport-ws";
    assert.equal(outcome(await open(OPERATIONS, "/elsewhere", protocol)), "DENY NO_MATCHING_RULE");
    assert.equal(
      (await open(everywhere + OPERATIONS, "/elsewhere", "mqtt")).plan?.websocket?.graphql,
      undefined,
    );
    assert.equal((await open(everywhere, "/elsewhere", protocol)).plan?.websocket?.graphql, undefined);
    // rules for messages say all that may pass
    const messages =
      "websocket_policies:\n  - { connection: { path: /elsewhere, condition: true }, message_types: [{ type: chat, condition: true }] }\n";
    const socket = (await open(messages + OPERATIONS, "/elsewhere", protocol)).plan?.websocket;
    assert.equal(socket?.graphql, undefined);
    assert.ok(socket?.send);
    // below an endpoint it is one connection to it
    const below = await open(everywhere + OPERATIONS, "/graphql/x", protocol);
    assert.equal(outcome(below), "ALLOW CONDITION_TRUE");
    assert.equal(below.plan?.websocket?.graphql?.rules.length, 2);
    assert.equal(below.plan.websocket.plain, false);
  });

  it("are like others where the set has no GraphQL policies", async () => {
    const decision = await knock(PATH, "/graphql?query=%7Bpayroll%7D");
    assert.equal(outcome(decision), "ALLOW CONDITION_TRUE");
    assert.equal(decision.plan?.websocket?.plain, true);
  });
});
