import assert from "node:assert/strict";
import { explainAnswer, explainOffline } from "../../../src/decision/explain/explain-offline.ts";
import { decideOffline, type OfflineDecision } from "../../../src/decision/explain/offline.ts";
import { openConnection, type OfflineConnection } from "../../../src/decision/explain/offline-connection.ts";
import type { ExplainedMessage, Direction } from "../../../src/decision/explain/message-verdict.ts";
import { HANDSHAKE_HEADERS } from "../../../src/policy/suite/index.ts";
import { accessOf, snapshotOf, type RequestParts } from "../support.ts";

const USER = { id: "u-1", role: "viewer" };

function decided(policies: string, parts: RequestParts): Promise<OfflineDecision> {
  const { raw } = accessOf(parts);
  return decideOffline(snapshotOf(policies), { raw, user: USER, lookup: () => undefined, now: 0 });
}

async function connect(policies: string, path: string): Promise<OfflineConnection> {
  const connection = await openConnection(await decided(policies, { path, headers: HANDSHAKE_HEADERS }));
  assert.ok(connection);
  return connection;
}

function sendOn(
  connection: OfflineConnection,
  message: object,
  direction: Direction = "send",
): ExplainedMessage {
  return connection.message(direction, JSON.stringify(message));
}

describe("decision: explanations of a path that is permitted in more than one reading", () => {
  it("name a field of one rule as often as the readings of the path come to something else for it", async () => {
    const BY_ID = `
policies: [{ resource: "GET /c/**", condition: "true" }]
response_masks:
  - api_pattern: GET /c/{id}
    fields:
      - { name: ssn, mask_type: full, condition: path.id == "export" }
      - { name: mail, mask_type: full, condition: path.id == "other" }
      - { name: phone, mask_type: full, condition: item.id == path.id }
  - { api_pattern: GET /c/export, fields: [{ name: pin, mask_type: full, condition: "true" }] }
`;
    const explained = await explainOffline(await decided(BY_ID, { path: "/c/export.json" }));
    assert.deepEqual(
      explained.explanation.fields.map(({ field, verdict, left }) => [field, verdict ?? left]),
      [
        ["ssn", "false"],
        ["mail", "false"],
        ["phone", 'item.id == "export.json"'],
        ["ssn", "true"],
        ["phone", 'item.id == "export"'],
        ["pin", "true"],
      ],
    );
    assert.deepEqual(
      explained.evaluated.filter(({ field }) => field === "ssn").map(({ verdict }) => verdict),
      ["false", "true"],
    );
    const { outcome, fields } = explainAnswer(explained, {
      status: 200,
      headers: [],
      text: '{"ssn":1,"mail":2,"pin":3}',
    });
    assert.ok(outcome.ok);
    assert.equal(outcome.text, '{"ssn":"***","mail":2,"pin":"***"}');
    assert.deepEqual(
      fields.map(({ masked }) => masked),
      [undefined, undefined, [], ["$.ssn"], [], ["$.pin"]],
    );
  });

  it("name the rules of an operation in every reading of the path that is a GraphQL endpoint", async () => {
    const policies = `
graphql: { paths: [/graphql, "/g/{id}"] }
policies:
  - { resource: "POST /**", condition: "true" }
  - { resource: POST /g/ql, condition: "true" }
graphql_policies:
  - { query: me, condition: request.path != "/x" }
  - { query: pay, condition: path.id == "ql.json", on_deny: null }
`;
    const explainedAt = async (path: string, document: string) => {
      const body = JSON.stringify({ query: document });
      const headers = [["content-type", "application/json"]] as const;
      const offline = await decided(policies, { method: "POST", path, headers, body });
      const { decision, explanation } = await explainOffline(offline);
      const { verdict, rules = [], denied = [] } = explanation.operation ?? {};
      const evaluated = rules.map((one) => `${one.rule.id} ${one.verdict}`);
      return [decision.reason, verdict, evaluated, denied.map((one) => `${one.path} ${one.rule ?? "-"}`)];
    };
    const me = "graphql_policies[0] true";
    // path rules alone evaluate the first reading
    assert.deepEqual(await explainedAt("/graphql.json", "{ me }"), ["CONDITION_TRUE", "allowed", [me], []]);
    assert.deepEqual(await explainedAt("/g/ql.json", "{ me }"), ["GRAPHQL_ALLOWED", "allowed", [me], []]);
    assert.deepEqual(await explainedAt("/g/ql.json", "{ pay }"), [
      ...["GRAPHQL_ALLOWED", "allowed"],
      ["graphql_policies[1] true", "graphql_policies[1] false"],
      ["pay graphql_policies[1]"],
    ]);
    assert.deepEqual(await explainedAt("/graphql.json", "{ other }"), [
      ...["AMBIGUOUS_PATH", "denied", []],
      ["other -"],
    ]);
  });

  describe("of a connection", () => {
    const OF_BOTH = `
policies: [{ resource: "GET /c/**", condition: "true" }]
response_masks:
  - { api_pattern: GET /c/feed, fields: [{ name: mail, mask_type: full, condition: "true" }] }
  - { api_pattern: "GET /c/{id}", fields: [{ name: ssn, mask_type: full, condition: path.id == "feed" }] }
websocket_policies:
  - connection: { path: "/c/{id}", condition: "true" }
    message_types:
      - { type: a, condition: "true" }
      - { type: b, condition: path.id == "feed.json" and message.n == 1, name: any }
      - { type: c, condition: "true" }
      - type: a
        direction: receive
        condition: "true"
        fields: [{ name: pin, mask_type: full, condition: path.id == "feed" }]
  - connection: { path: /c/feed, condition: "true" }
    message_types:
      - { type: a, condition: user.role == "x", name: feed, on_deny: close }
      - { type: b, condition: "true" }
      - type: a
        direction: receive
        condition: "true"
        fields: [{ name: tel, mask_type: remove, condition: "true" }]
`;
    const open = () => connect(OF_BOTH, "/c/feed.json");

    it("mask by the rules of each", async () => {
      const message = { type: "a", mail: 1, ssn: 2, pin: 3, tel: 4 };
      const { delivered, fields, evaluated } = sendOn(await open(), message, "receive");
      assert.equal(delivered, '{"type":"a","mail":"***","ssn":"***","pin":3}');
      assert.deepEqual(
        fields.map(({ field, verdict, masked }) => [field, verdict, masked]),
        [
          ["pin", "false", undefined],
          ["tel", "true", ["$.tel"]],
          ["ssn", "false", undefined],
          ["mail", "true", ["$.mail"]],
          ["ssn", "true", ["$.ssn"]],
        ],
      );
      assert.deepEqual(
        evaluated.filter(({ field }) => field === undefined).map(({ rule }) => rule),
        ["websocket_policies[0].message_types[3]", "websocket_policies[1].message_types[2]"],
      );
    });

    it("deliver what each permits, and name the rule that does not", async () => {
      const sent = async (message: object) => {
        const { code, rule, condition, evaluated } = sendOn(await open(), message);
        return [code, rule?.name ?? rule?.id, condition?.verdict, evaluated.map(({ verdict }) => verdict)];
      };
      assert.deepEqual(await sent({ type: "a" }), ["CONDITION", "feed", "false", ["true", "false"]]);
      assert.deepEqual(await sent({ type: "b", n: 2 }), ["CONDITION", "any", "false", ["false", "true"]]);
      assert.deepEqual(await sent({ type: "b", n: 1, N: 1 }), ["AMBIGUOUS", "any", "true", ["true", "true"]]);
      assert.deepEqual(await sent({ type: "b", n: 1 }), ["PERMITTED", "any", "true", ["true", "true"]]);
      assert.deepEqual(await sent({ type: "c" }), ["UNLISTED", undefined, undefined, []]);
      const connection = await open();
      const inTurn = [{ type: "a" }, { type: "b", n: 1 }].map((message) => sendOn(connection, message).code);
      assert.deepEqual(inTurn, ["CONDITION", "CLOSED"]);
    });

    it("evaluate operations where one of them is a GraphQL endpoint", async () => {
      const connection = await connect(
        `
policies: [{ resource: "* /**", condition: "true" }]
graphql_policies: [{ query: me, condition: user.role == "admin" }, { query: ping, condition: "true" }]
`,
        "/graphql.json",
      );
      const subscribed = (query: string) => {
        const { code, rule } = sendOn(connection, { id: "1", type: "subscribe", payload: { query } });
        return [code, rule?.id];
      };
      assert.deepEqual(subscribed("{ me }"), ["ACCESS_DENIED", "graphql_policies[0]"]);
      assert.deepEqual(subscribed("{ ping }"), ["PERMITTED", "graphql_policies[1]"]);
    });
  });
});
