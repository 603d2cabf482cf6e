import { withoutParts } from "./without-parts.ts";
import assert from "node:assert/strict";
import { decideOffline, type OfflineRequest } from "../../../src/decision/explain/offline.ts";
import { openConnection, type OfflineConnection } from "../../../src/decision/explain/offline-connection.ts";
import type { Direction } from "../../../src/decision/explain/message-verdict.ts";
import { renderDelivery } from "../../../src/decision/explain/render-explanation.ts";
import { MAX_VALUES } from "../../../src/json/index.ts";
import { messageOf } from "../../cases/json/documents.ts";
import type { ValueObject } from "../../../src/policy/index.ts";
import { HANDSHAKE_HEADERS } from "../../../src/policy/suite/index.ts";
import { accessOf, snapshotOf } from "../support.ts";

const POLICIES = `
response_masks:
  - { api_pattern: /ws/**, fields: [{ name: secret, condition: true, mask_type: full }] }
websocket_policies:
  - connection: { path: /ws/orders, condition: exists(user.id) }
    message_types:
      - { type: subscribe, condition: message.customer == user.customer, name: own orders }
      - { type: drop_all, condition: user.role == "admin", on_deny: close }
      - type: order
        direction: receive
        condition: message.hour == env.hour
        fields:
          - { name: email, condition: user.role != "admin", mask_type: full }
          - { name: phone, condition: item.owner != user.id, mask_type: remove }
  - connection: { path: /ws/open, condition: true }
`;
const USER = { id: "u-1", customer: "c-1", role: "viewer" };

async function connect(
  policies: string,
  path: string,
  {
    headers = [],
    user = USER,
  }: { headers?: readonly (readonly [string, string])[]; user?: ValueObject } = {},
  more: Partial<OfflineRequest> = {},
): Promise<OfflineConnection | undefined> {
  const { raw } = accessOf({ path, headers: [...HANDSHAKE_HEADERS, ...headers] });
  const now = Date.UTC(2026, 0, 31, 12);
  return openConnection(
    await decideOffline(snapshotOf(policies), { raw, user, now, lookup: () => undefined, ...more }),
  );
}

/** The code of each message's delivery, one after the other on one connection. */
async function codes(
  connection: Promise<OfflineConnection | undefined>,
  ...messages: [Direction, unknown][]
) {
  const open = await connection;
  assert.ok(open);
  return messages.map(([direction, message]) => {
    const text = typeof message === "string" ? message : JSON.stringify(message);
    const { code, delivered } = open.message(direction, text);
    return delivered === undefined ? `not ${code}` : code;
  });
}

describe("decision: offline connections", () => {
  const orders = () => connect(POLICIES, "/ws/orders");

  it("evaluate messages by their types and conditions", async () => {
    assert.deepEqual(
      await codes(
        orders(),
        ["send", { type: "subscribe", customer: "c-1" }],
        ["send", { type: "subscribe", customer: "c-2" }],
        ["send", '{"type":"subscribe","customer":"c-2","customer":"c-1"}'],
        ["send", { type: "ping" }],
        ["send", "ping"],
        ["receive", { type: "order", hour: 12 }],
        ["receive", { type: "order", hour: 11 }],
        ["receive", { type: "other" }],
      ),
      [
        ...["PERMITTED", "not CONDITION", "not CONDITION", "not UNLISTED", "not UNREADABLE"],
        ...["PERMITTED", "not CONDITION", "not UNLISTED"],
      ],
    );
  });

  it("read as many values of a client's message as of a body, and any number of a server's", async () => {
    for (const values of [MAX_VALUES, MAX_VALUES + 1]) {
      const isMore = values > MAX_VALUES;
      const [sent, received] = await codes(
        connect(POLICIES, "/ws/orders"),
        ["send", messageOf("subscribe", values)],
        ["receive", messageOf("order", values)],
      );
      assert.deepEqual([sent, received], [isMore ? "not UNREADABLE" : "not CONDITION", "not CONDITION"]);
      const payload = { list: Array.from({ length: values - 4 }, () => 1) };
      const operations = connect("graphql_policies:\n  - { query: me, condition: true }\n", "/graphql");
      assert.deepEqual(
        await codes(operations, ["receive", { type: "ping", payload }], ["send", { type: "ping", payload }]),
        ["PERMITTED", isMore ? "not UNREADABLE" : "PERMITTED"],
      );
    }
  });

  it("say why, with the message's own values", async () => {
    const open = await orders();
    const { rule, condition, evaluated } = open!.message("send", '{"type":"subscribe","customer":"c-2"}');
    assert.deepEqual([rule?.name, rule?.resource], ["own orders", "send subscribe"]);
    assert.deepEqual(condition?.reads, [
      { path: "message.customer", state: "present", value: "c-2" },
      { path: "user.customer", state: "present", value: "c-1" },
    ]);
    assert.deepEqual(withoutParts(evaluated), [
      { rule: "websocket_policies[0].message_types[0]", verdict: "false" },
    ]);
  });

  it("mask what the server sends, by the message's fields and by response rules", async () => {
    const open = await orders();
    const text = '{ "type":"order", "hour":12, "email":"a@b", "phone":"1", "owner":"u-9", "secret":5 }';
    const { delivered, fields, evaluated } = open!.message("receive", text);
    assert.equal(delivered, '{ "type":"order", "hour":12, "email":"***", "owner":"u-9", "secret":"***" }');
    assert.deepEqual(
      fields.map(({ field, masked, left }) => [field, masked, left]),
      [
        ["email", ["$.email"], undefined],
        ["phone", ["$.phone"], 'item.owner != "u-1"'],
        ["secret", ["$.secret"], undefined],
      ],
    );
    const message = "websocket_policies[0].message_types[2]";
    assert.deepEqual(withoutParts(evaluated), [
      { rule: message, verdict: "true" },
      { rule: message, field: "email", verdict: "true" },
      { rule: message, field: "phone", verdict: "true" },
      { rule: "response_masks[0]", field: "secret", verdict: "true" },
    ]);
    const mine = open!.message("receive", '{"type":"order","hour":12,"phone":"1","owner":"u-1"}');
    assert.equal(mine.delivered, '{"type":"order","hour":12,"phone":"1","owner":"u-1"}');
    assert.ok(mine.evaluated.some(({ field, verdict }) => field === "phone" && verdict === "false"));
  });

  it("deliver nothing after a message that closes them", async () => {
    assert.deepEqual(
      await codes(
        orders(),
        ["send", { type: "drop_all" }],
        ["send", { type: "subscribe", customer: "c-1" }],
        ["receive", { type: "order", hour: 12 }],
      ),
      ["not CONDITION", "not CLOSED", "not CLOSED"],
    );
    const admin = connect(POLICIES, "/ws/orders", { user: { ...USER, role: "admin" } });
    assert.deepEqual(
      await codes(admin, ["send", { type: "drop_all" }], ["send", { type: "subscribe", customer: "c-1" }]),
      ["PERMITTED", "PERMITTED"],
    );
  });

  it("let everything pass where no types are listed, and mask it all the same", async () => {
    const open = await connect(POLICIES, "/ws/open");
    assert.equal(open!.message("send", 'anything "secret"').delivered, 'anything "secret"');
    assert.equal(open!.message("receive", '[{"secret":1}]').delivered, '[{"secret":"***"}]');
    const unreadable = open!.message("receive", "secret");
    assert.deepEqual([unreadable.delivered, unreadable.code], [undefined, "UNREADABLE"]);
  });

  it("are there only where a handshake is permitted", async () => {
    assert.equal(await connect(POLICIES, "/ws/nowhere"), undefined);
    assert.equal(await connect("default: allow", "/a//b"), undefined);
    const request = await decideOffline(snapshotOf("default: allow"), {
      raw: accessOf().raw,
      lookup: () => undefined,
      now: 0,
    });
    assert.equal(await openConnection(request), undefined);
    const open = await connect("default: allow", "/ws");
    assert.equal(open!.message("receive", "x").delivered, "x");
  });

  it("are rendered for people", async () => {
    const open = await orders();
    const denied = renderDelivery(open!.message("send", '{"type":"subscribe","customer":"c-2"}'));
    assert.match(denied, /^the client's message is NOT delivered: CONDITION$/m);
    assert.match(denied, /^rule send subscribe {2}own orders {2}\(test\.yaml:\d+\)$/m);
    assert.match(denied, /^ {2}false {3}message\.customer == user\.customer$/m);
    const delivered = renderDelivery(open!.message("receive", '{"type":"order","hour":12,"email":"a"}'));
    assert.match(delivered, /^the server's message is delivered: PERMITTED$/m);
    assert.match(delivered, /^in the message:\n {2}email: full /m);
    assert.match(delivered, /^ {4}here: \$\.email$/m);
    assert.match(delivered, /\n\n\{"type":"order","hour":12,"email":"\*\*\*"\}\n$/);
  });
});

const GRAPHQL = `
policies: [{ resource: "GET /graphql", condition: exists(user.id) }]
response_masks:
  - { api_pattern: /graphql, fields: [{ name: ssn, condition: true, mask_type: full }] }
graphql_policies:
  - { query: ping, condition: true }
  - { subscription: orders, condition: args.limit < 5 and order.customer == user.customer }
`;

describe("decision: offline GraphQL connections", () => {
  const subscribe = (id: unknown, query: string, type = "subscribe") => ({ id, type, payload: { query } });
  const ORDERS = "subscription { orders(limit: 1) { order { customer } } }";
  const next = (id: string, customer: unknown, type = "next") => ({
    id,
    type,
    payload: { data: { orders: { order: { customer } } } },
  });
  const modern = () => connect(GRAPHQL, "/graphql");
  const older = () =>
    connect(GRAPHQL, "/graphql", { headers: [["sec-websocket-protocol", "x, graphql-ws"]] });

  it("evaluate operations and what they deliver, by id", async () => {
    assert.deepEqual(
      await codes(
        modern(),
        ["send", { type: "connection_init" }],
        ["receive", { type: "connection_ack" }],
        ["receive", next("1", "c-1")],
        ["send", subscribe("1", ORDERS)],
        ["receive", next("1", "c-1")],
        ["receive", next("1", "c-2")],
        ["receive", next("1", 5)],
        ["receive", next("2", "c-1")],
        ["receive", { id: "1", type: "complete" }],
        ["receive", next("1", "c-1")],
      ),
      [
        ...["PERMITTED", "PERMITTED", "not UNREADABLE", "PERMITTED", "PERMITTED", "not ACCESS_DENIED"],
        ...["not ACCESS_DENIED", "not UNREADABLE", "PERMITTED", "not UNREADABLE"],
      ],
    );
  });

  it("speak the older protocol where the handshake asks for it", async () => {
    assert.deepEqual(
      await codes(
        older(),
        ["send", subscribe("1", ORDERS, "start")],
        ["receive", next("1", "c-1", "data")],
        ["receive", { type: "ka" }],
        ["send", { id: "1", type: "stop" }],
        ["receive", next("1", "c-1", "data")],
        ["send", subscribe("1", ORDERS)],
        ["send", subscribe("1", ORDERS, "start")],
      ),
      [
        ...["PERMITTED", "PERMITTED", "PERMITTED", "PERMITTED", "not UNREADABLE"],
        ...["not UNREADABLE", "not CLOSED"],
      ],
    );
  });

  it("deny operations, and say which rule and why", async () => {
    const open = await modern();
    const send = (message: unknown) => open!.message("send", JSON.stringify(message));
    const tooMany = send(subscribe("1", "subscription { orders(limit: 9) { order { customer } } }"));
    assert.deepEqual([tooMany.delivered, tooMany.code], [undefined, "ACCESS_DENIED"]);
    assert.equal(tooMany.rule?.resource, "subscription orders");
    assert.equal(tooMany.operation?.rules[0]?.condition.children[0]?.verdict, "false");
    assert.deepEqual(withoutParts(tooMany.evaluated), [{ rule: "graphql_policies[1]", verdict: "false" }]);
    assert.match(renderDelivery(tooMany), /^the operation is denied$/m);

    const unselected = send(subscribe("1", "subscription { orders(limit: 1) { id } }"));
    assert.equal(unselected.operation?.denied[0]?.message, 'select "customer" to subscribe');
    assert.equal(send(subscribe("1", "{")).code, "GRAPHQL_MALFORMED");
    assert.equal(send({ id: "1", type: "subscribe", payload: { id: "hash" } }).code, "GRAPHQL_MALFORMED");
    assert.equal(send(subscribe("1", "{ other }")).rule, undefined);
    assert.equal(send(subscribe("1", "{ ping }")).code, "PERMITTED");
  });

  it("count what conditions on events came to", async () => {
    const open = await modern();
    const subscribed = open!.message("send", JSON.stringify(subscribe("1", ORDERS)));
    assert.deepEqual(withoutParts(subscribed.evaluated), []);
    assert.equal(subscribed.operation?.rules[0]?.left, 'args.limit < 5 and order.customer == "c-1"');
    const verdictOf = (message: unknown) => {
      const { evaluated, condition } = open!.message("receive", JSON.stringify(message));
      return [evaluated.find(({ field }) => field === undefined)?.verdict, condition?.verdict];
    };
    assert.deepEqual(verdictOf(next("1", "c-1")), ["true", "true"]);
    assert.deepEqual(verdictOf(next("1", "c-2")), ["false", "false"]);
    assert.deepEqual(verdictOf(next("1", null)), ["false", "false"]);
    assert.deepEqual(verdictOf(next("1", 7)), ["unknown", "unknown"]);
    const list = { data: { orders: [{ order: { customer: "c-1" } }, { order: { customer: "c-2" } }] } };
    assert.deepEqual(verdictOf({ id: "1", type: "next", payload: list }), ["unknown", undefined]);
    const errors = { data: null, errors: [] };
    assert.deepEqual(verdictOf({ id: "1", type: "next", payload: errors }), [undefined, undefined]);
    assert.deepEqual(verdictOf({ id: "1", type: "next", payload: 5 }), ["unknown", undefined]);
  });

  it("mask what the server delivers", async () => {
    const open = await modern();
    open!.message("send", JSON.stringify(subscribe("1", "{ ping }")));
    const text = '{"id":"1","type":"next","payload":{"data":{"ssn":"1"}}}';
    const { delivered } = open!.message("receive", text);
    assert.equal(delivered, '{"id":"1","type":"next","payload":{"data":{"ssn":"***"}}}');
  });

  const closing: readonly unknown[] = [
    ...[
      "no JSON",
      "[]",
      '{"type":"ping","type":"ping"}',
      { type: "other" },
      { type: "constructor" },
      { id: "1" },
    ],
    ...[{ type: "ping", more: 1 }, { id: 5, type: "ping" }, subscribe("", "{ ping }"), { type: "subscribe" }],
  ];
  for (const message of closing) {
    it(`end with a message that can be read in two ways, or not at all: ${JSON.stringify(message)}`, async () => {
      const [code, after] = await codes(modern(), ["send", message], ["send", { type: "ping" }]);
      assert.match(code!, /^not /);
      assert.equal(after, "not CLOSED");
    });
  }

  it("end with an id that is in use", async () => {
    const twice = subscribe("1", ORDERS);
    assert.deepEqual(await codes(modern(), ["send", twice], ["send", twice], ["send", { type: "ping" }]), [
      "PERMITTED",
      "not UNREADABLE",
      "not CLOSED",
    ]);
  });

  it("only drop what the server sends and nobody can read", async () => {
    assert.deepEqual(await codes(modern(), ["receive", "no JSON"], ["send", { type: "ping" }]), [
      "not UNREADABLE",
      "PERMITTED",
    ]);
  });
});
