import assert from "node:assert/strict";
import { createClient, type Client } from "graphql-ws";
import { WebSocket } from "ws";
import { eventually } from "../support/eventually.ts";
import { startGateway, type RunningGateway } from "../support/gateway.ts";
import { SDL, startGraphqlApplication, type GraphqlApplication } from "../support/graphql-application.ts";
import { startIssuer, type TestIssuer } from "../support/issuer.ts";
import { connectSocket } from "../support/socket-client.ts";

const POLICIES = `
graphql: { schema: api.graphql }
graphql_policies:
  - { query: customer, condition: user.role == "admin" or args.id == user.customer_id }
  - { query: me, condition: exists(user.id) }
  - { query: node, condition: exists(user.id) }
  - { query: Customer.ssn, condition: user.role == "admin" }
  - { query: Customer.notes, condition: user.role == "admin", on_deny: "null" }
  - { mutation: rename, condition: user.role == "admin" }
  - { subscription: orderUpdated, condition: order.customer_id == user.customer_id }
websocket_policies:
  - connection: { path: /graphql, condition: exists(user.id) }
`;

interface Answer {
  readonly status: number;
  readonly body: {
    data?: unknown;
    errors?: readonly { message: string; path?: readonly string[]; extensions?: { code?: string } }[];
  };
}

describe("end to end: GraphQL", function () {
  this.timeout(60_000);
  let application: GraphqlApplication;
  let issuer: TestIssuer;
  let gateway: RunningGateway;

  before(async () => {
    [application, issuer] = await Promise.all([startGraphqlApplication(), startIssuer()]);
    gateway = await startGateway({
      backend: application.url,
      issuer,
      policies: { "default.yaml": POLICIES, "api.graphql": SDL },
    });
  });
  after(async () => {
    await gateway.stop();
    await issuer.close();
    await application.close();
  });

  const VIEWER = { role: "viewer", customer_id: "c-1" };
  const ADMIN = { role: "admin", customer_id: "c-1" };

  async function send(
    path: string,
    init: RequestInit,
    claims: Record<string, unknown> = VIEWER,
  ): Promise<Answer> {
    const authorization = `Bearer ${await issuer.token(claims)}`;
    const response = await fetch(`${gateway.url}${path}`, {
      ...init,
      headers: { ...(init.headers as Record<string, string>), authorization },
    });
    return { status: response.status, body: (await response.json()) as Answer["body"] };
  }
  const post = (payload: unknown, claims?: Record<string, unknown>) =>
    send(
      "/graphql",
      {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: typeof payload === "string" ? payload : JSON.stringify(payload),
      },
      claims,
    );

  it("lets operations through whose fields are all permitted", async () => {
    const { status, body } = await post({
      query: '{ customer(id: "c-1") { id name } me { id } __typename }',
    });
    assert.equal(status, 200);
    assert.deepEqual(body.data, {
      customer: { id: "c-1", name: "Ada" },
      me: { id: "c-1" },
      __typename: "Query",
    });
    const admin = await post({ query: '{ customer(id: "c-2") { ssn } }' }, ADMIN);
    assert.deepEqual(admin.body.data, { customer: { ssn: "222-22-2222" } });
  });

  it("says which fields are denied, in GraphQL's shape", async () => {
    const before = application.operations();
    const { status, body } = await post({
      query: '{ customer(id: "c-1") { name ssn } other: customer(id: "c-2") { id } }',
    });
    assert.equal(status, 403);
    assert.deepEqual(
      body.errors?.map(({ path, extensions }) => [path?.join("."), extensions?.code]),
      [
        ["customer.ssn", "ACCESS_DENIED"],
        ["other", "ACCESS_DENIED"],
      ],
    );
    assert.equal(application.operations(), before, "the application was not asked");
    assert.equal(
      (
        await fetch(`${gateway.url}/graphql`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: '{"query":"{me{id}}"}',
        })
      ).status,
      401,
    );
  });

  it("nulls fields of rules that say so, and says that it did", async () => {
    const { status, body } = await post({ query: '{ c: customer(id: "c-1") { id n: notes } me { notes } }' });
    assert.equal(status, 200);
    assert.deepEqual(body.data, { c: { id: "c-1", n: null }, me: { notes: null } });
    assert.deepEqual(
      body.errors?.map(({ path, extensions }) => [path?.join("."), extensions?.code]),
      [
        ["c.n", "ACCESS_DENIED"],
        ["me.notes", "ACCESS_DENIED"],
      ],
    );
    const admin = await post({ query: "{ me { notes } }" }, ADMIN);
    assert.deepEqual(admin.body, { data: { me: { notes: "private" } } });
  });

  describe("is not got round by", () => {
    const denied: readonly [string, unknown][] = [
      ["the plain query", { query: "{ me { ssn } }" }],
      ["an alias", { query: "{ me { id: ssn } }" }],
      ["an alias of the root", { query: 'query { me: customer(id: "c-2") { id } }' }],
      ["a fragment", { query: "{ me { ...F } } fragment F on Customer { ssn }" }],
      ["a fragment on an interface", { query: '{ node(id: "c-1") { ... on Customer { ssn } } }' }],
      ["an inline fragment on an interface", { query: "{ me { ... on Node { ... on Customer { ssn } } } }" }],
      [
        "a directive with a variable",
        { query: "query ($v: Boolean!) { me { id ssn @include(if: $v) } }", variables: { v: true } },
      ],
      [
        "a directive that leaves it out",
        { query: "query ($v: Boolean!) { me { id ssn @skip(if: $v) } }", variables: { v: true } },
      ],
      ["a second operation", { query: "query A { me { id } } query B { me { ssn } }", operationName: "A" }],
      ["another operation's name", { query: "query B { me { ssn } }", operationName: "B" }],
      ["introspection beside it", { query: "{ __schema { types { name } } me { ssn } }" }],
      ["introspection", { query: "{ __schema { types { name } } }" }],
      ["an operation's label", { query: 'query me { customer(id: "c-2") { id } }' }],
      ["a variable", { query: "query ($id: ID!) { customer(id: $id) { id } }", variables: { id: "c-2" } }],
      ["a variable's default", { query: 'query ($id: ID! = "c-2") { customer(id: $id) { id } }' }],
      ["a mutation's result", { query: 'mutation { rename(id: "c-1", name: "x") { ssn } }' }],
    ];
    for (const [name, payload] of denied) {
      it(name, async () => {
        const before = application.operations();
        const { status } = await post(payload);
        assert.equal(status, 403);
        assert.equal(application.operations(), before);
      });
    }

    it("a batch", async () => {
      const { status } = await post([{ query: "{ me { id } }" }, { query: "{ me { ssn } }" }]);
      assert.equal(status, 403);
      assert.equal((await post([{ query: "{ me { id } }" }, { query: "{ me { name } }" }])).status, 200);
    });

    it("a duplicate member", async () => {
      for (const body of [
        '{"query":"{ me { id } }","query":"{ me { ssn } }"}',
        '{"query":"{ me { ssn } }","query":"{ me { id } }"}',
        '{"query":"{ me { id } }","\\u0071uery":"{ me { ssn } }"}',
      ]) {
        const before = application.operations();
        assert.equal((await post(body)).status, 400);
        assert.equal(application.operations(), before);
      }
    });

    it("GET after POST", async () => {
      const get = (query: string) => send(`/graphql?query=${encodeURIComponent(query)}`, {});
      assert.equal((await get("{ me { id } }")).status, 200);
      assert.equal((await get("{ me { ssn } }")).status, 403);
      assert.ok((await get('mutation { rename(id: "c-1", name: "x") { id } }')).status >= 400);
    });

    it("parameters beside a body, other media types, hashes, and other methods", async () => {
      const json = { "content-type": "application/json" };
      const query = encodeURIComponent("{ me { ssn } }");
      const attempts: readonly [string, RequestInit][] = [
        [`/graphql?query=${query}`, { method: "POST", headers: json, body: '{"query":"{ me { id } }"}' }],
        [
          "/graphql",
          { method: "POST", headers: { "content-type": "application/graphql" }, body: "{ me { ssn } }" },
        ],
        [
          "/graphql",
          {
            method: "POST",
            headers: { "content-type": "application/x-www-form-urlencoded" },
            body: `query=${query}`,
          },
        ],
        [
          "/graphql",
          { method: "POST", headers: { "content-type": "text/plain" }, body: '{"query":"{ me { ssn } }"}' },
        ],
        [
          "/graphql",
          {
            method: "POST",
            headers: json,
            body: '{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"x"}}}',
          },
        ],
        ["/graphql", { method: "POST", headers: json, body: '{"id":"x"}' }],
        ["/graphql", { method: "PUT", headers: json, body: '{"query":"{ me { ssn } }"}' }],
        ["/graphql", { method: "POST", headers: json, body: "" }],
      ];
      for (const [path, init] of attempts) {
        const before = application.operations();
        const { status } = await send(path, init);
        assert.ok(status === 400 || status === 403, `${path} ${JSON.stringify(init)}: ${status}`);
        assert.equal(application.operations(), before);
      }
    });

    it("too much of everything", async () => {
      const deep = `{ me ${"{ friend ".repeat(20)}{ id } ${"}".repeat(20)} }`;
      const aliases = `{ ${Array.from({ length: 40 }, (_, index) => `a${index}: me { id }`).join(" ")} }`;
      const tokens = `{ me { ${"id ".repeat(6000)} } }`;
      for (const query of [deep, aliases, tokens]) {
        const { status, body } = await post({ query });
        assert.equal(status, 400);
        assert.equal(body.errors?.[0]?.extensions?.code, "GRAPHQL_LIMIT_EXCEEDED");
      }
    });
  });

  describe("over WebSocket", () => {
    const clients: Client[] = [];
    afterEach(async () => {
      for (const client of clients.splice(0)) await client.dispose();
    });

    async function subscriber(claims: Record<string, unknown>) {
      const authorization = `Bearer ${await issuer.token(claims)}`;
      class Socket extends WebSocket {
        constructor(url: string, protocols: string | string[]) {
          super(url, protocols, { headers: { authorization } });
        }
      }
      const url = `${gateway.url.replace("http", "ws")}/graphql`;
      const client = createClient({ url, webSocketImpl: Socket, retryAttempts: 0, lazy: true });
      clients.push(client);
      return (query: string) => {
        const got: unknown[] = [];
        const state: { got: unknown[]; error?: unknown; done: boolean } = { got, done: false };
        client.subscribe(
          { query },
          {
            next: (value) => got.push(value),
            error: (error) => (state.error = error),
            complete: () => (state.done = true),
          },
        );
        return state;
      };
    }

    it("judges operations at subscribe", async () => {
      const run = await subscriber(VIEWER);
      const good = run("{ me { id } }");
      await eventually("the answer", () => good.done);
      assert.deepEqual(good.got, [{ data: { me: { id: "c-1" } } }]);
      const before = application.operations();
      const bad = run("{ me { secret: ssn } }");
      await eventually("the refusal", () => bad.error);
      assert.match(JSON.stringify(bad.error), /ACCESS_DENIED/);
      assert.equal(application.operations(), before);
      const after = run("{ me { name } }");
      await eventually("the connection lives on", () => after.done);
    });

    it("delivers only the events that the condition permits", async () => {
      const run = await subscriber(VIEWER);
      const orders = run("subscription { orderUpdated { id customer_id } }");
      await eventually("the subscription", () => application.subscribers() > 0);
      application.publish({ id: "o-1", customer_id: "c-2" });
      application.publish({ id: "o-2", customer_id: "c-1" });
      application.publish({ id: "o-3", customer_id: "c-3" });
      application.publish({ id: "o-4", customer_id: "c-1" });
      await eventually("the last event", () => orders.got.length === 2);
      assert.deepEqual(orders.got, [
        { data: { orderUpdated: { id: "o-2", customer_id: "c-1" } } },
        { data: { orderUpdated: { id: "o-4", customer_id: "c-1" } } },
      ]);
    });

    it("denies subscriptions that hide what the condition reads", async () => {
      const run = await subscriber(VIEWER);
      for (const query of [
        "subscription { orderUpdated { id } }",
        "subscription { orderUpdated { customer_id: id } }",
      ]) {
        const state = run(query);
        await eventually("the refusal", () => state.error);
        assert.match(JSON.stringify(state.error), /customer_id/);
      }
    });

    it("speaks the older protocol as well", async () => {
      const authorization = `Bearer ${await issuer.token(VIEWER)}`;
      const client = await connectSocket(`${gateway.url.replace("http", "ws")}/graphql`, {
        protocols: ["graphql-ws"],
        headers: { authorization },
      });
      assert.equal(client.refusal(), undefined);
      await eventually("the subscriptions before it to end", () => application.subscribers() === 0);
      client.socket.send('{"type":"connection_init","payload":{}}');
      await client.message("the acknowledgement", (text) => text.includes("connection_ack"));
      client.socket.send(
        '{"id":"1","type":"start","payload":{"query":"subscription { orderUpdated { id customer_id } }"}}',
      );
      await eventually("the subscription", () => application.subscribers() > 0);
      application.publish({ id: "o-5", customer_id: "c-2" });
      application.publish({ id: "o-6", customer_id: "c-1" });
      await client.message("the event", (text) => text.includes("o-6"));
      assert.ok(!client.messages.some((text) => text.includes("o-5")));
      client.socket.send('{"id":"2","type":"start","payload":{"query":"{ me { ssn } }"}}');
      await client.message("the refusal", (text) => text.includes("ACCESS_DENIED"));
      client.close();
    });

    it("speaks no other protocol", async () => {
      const authorization = `Bearer ${await issuer.token(VIEWER)}`;
      for (const protocols of [[], ["other"]]) {
        const client = await connectSocket(`${gateway.url.replace("http", "ws")}/graphql`, {
          protocols,
          headers: { authorization },
        });
        const before = application.operations();
        if (client.refusal() === undefined) {
          client.socket.send('{"id":"2","type":"subscribe","payload":{"query":"{ me { ssn } }"}}');
          await client.closing();
        }
        assert.equal(application.operations(), before);
        client.close();
      }
    });
  });
});
