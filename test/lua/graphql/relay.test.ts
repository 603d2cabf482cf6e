import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { buildSchema, execute, subscribe } from "graphql";
import { createClient } from "graphql-ws";
import { useServer } from "graphql-ws/use/ws";
import { SubscriptionClient, SubscriptionServer } from "subscriptions-transport-ws";
import { WebSocket, WebSocketServer, type RawData } from "ws";
import type { LuaRunner } from "../../support/lua.ts";
import { planOf, ruleOf } from "./plans.ts";
import { startSockets, type Action, type LuaSocket, type OpenSocket } from "./socket-support.ts";

const schema = buildSchema(`
  type Query { hello: String secret: String }
  type Order { id: ID customer_id: ID }
  type Subscription { orderUpdated: Order endless: Int }
`);
const resolvers = {
  hello: () => "hello",
  secret: () => "secret",
  async *orderUpdated() {
    await Promise.resolve();
    for (const [id, customer_id] of ["c1", "c2", "c1"].entries()) yield { orderUpdated: { id, customer_id } };
  },
  async *endless() {
    for (let index = 0; ; index++) {
      yield { endless: index };
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  },
};
const plan = planOf([
  ruleOf("query hello"),
  ruleOf("query secret", false),
  ruleOf("subscription endless"),
  ruleOf("subscription orderUpdated", 'order.customer_id == "c1"'),
]);

/** Real clients and servers of both libraries; what they say to each other goes through Lua. */
describe("GraphQL over WebSocket in Lua, between the libraries", () => {
  let runner: LuaRunner;
  let open: OpenSocket;
  const servers: WebSocketServer[] = [];
  before(async () => {
    ({ runner, open } = await startSockets());
  });
  afterEach(() => {
    for (const server of servers.splice(0)) {
      for (const client of server.clients) client.terminate();
      server.close();
    }
  });
  after(() => runner.close());

  async function listen(): Promise<WebSocketServer> {
    const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
    servers.push(server);
    await once(server, "listening");
    return server;
  }
  const urlOf = (server: WebSocketServer) => `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;

  /** Stands between clients and `server`, as Envoy does, and remembers what Lua did. */
  async function relayTo(
    server: WebSocketServer,
    protocol: string,
  ): Promise<{ url: string; actions: Action[] }> {
    const relay = await listen();
    const actions: Action[] = [];
    relay.on("connection", (client) => {
      const upstream = new WebSocket(urlOf(server), [protocol]);
      const ready: Promise<LuaSocket> = Promise.all([open(plan, protocol), once(upstream, "open")]).then(
        ([socket]) => socket,
      );
      let last: Promise<unknown> = ready;
      const evaluated = (side: "client" | "server", to: WebSocket) => (data: RawData) => {
        last = last.then(async () => {
          const action = await (await ready)[side]((data as Buffer).toString());
          actions.push(action);
          if (action.deliver !== undefined) to.send(action.deliver);
          if (action.reply !== undefined) client.send(action.reply);
          if (action.close !== undefined) client.close(action.close, action.reason);
        });
      };
      client.on("message", evaluated("client", upstream));
      upstream.on("message", evaluated("server", client));
      client.on("close", () => {
        upstream.close();
      });
    });
    return { url: urlOf(relay), actions };
  }

  const count = (actions: readonly Action[], what: keyof Action) =>
    actions.filter((action) => action[what] !== undefined).length;

  it("graphql-ws: results, denials, events and ends arrive", async () => {
    const server = await listen();
    useServer({ schema, roots: { query: resolvers, subscription: resolvers } }, server);
    const { url, actions } = await relayTo(server, "graphql-transport-ws");
    const client = createClient({ url, webSocketImpl: WebSocket, retryAttempts: 0 });
    const all = async (query: string) => {
      const results: unknown[] = [];
      for await (const result of client.iterate({ query })) results.push(result);
      return results;
    };
    assert.deepEqual(await all("{hello}"), [{ data: { hello: "hello" } }]);
    await assert.rejects(all("{hello secret}"), (errors: unknown) => {
      assert.deepEqual(errors, [
        { message: 'access to "secret" is denied', path: ["secret"], extensions: { code: "ACCESS_DENIED" } },
      ]);
      return true;
    });
    assert.deepEqual(await all("subscription { orderUpdated { id customer_id } }"), [
      { data: { orderUpdated: { id: "0", customer_id: "c1" } } },
      { data: { orderUpdated: { id: "2", customer_id: "c1" } } },
    ]);
    assert.equal(count(actions, "drop"), 2);
    for await (const { data } of client.iterate({ query: "subscription { endless }" }))
      if (data?.["endless"] === 3) break;
    assert.deepEqual(await all("{hello}"), [{ data: { hello: "hello" } }]);
    assert.equal(count(actions, "close"), 0);
    await client.dispose();
  });

  it("subscriptions-transport-ws: results, denials, events and ends arrive", async () => {
    const server = await listen();
    SubscriptionServer.create({ schema, rootValue: resolvers, execute, subscribe }, server);
    const { url, actions } = await relayTo(server, "graphql-ws");
    const client = new SubscriptionClient(url, {}, WebSocket);
    const all = (query: string, most = Infinity) =>
      new Promise<unknown[]>((resolve, reject) => {
        const results: unknown[] = [];
        const { unsubscribe } = client.request({ query }).subscribe({
          next(result) {
            if (results.push(result) < most) return;
            unsubscribe();
            resolve(results);
          },
          error: reject,
          complete: () => {
            resolve(results);
          },
        });
      });
    assert.deepEqual(await all("{hello}"), [{ data: { hello: "hello" } }]);
    await assert.rejects(all("{hello secret}"), { message: 'access to "secret" is denied' });
    assert.deepEqual(await all("subscription { orderUpdated { id customer_id } }"), [
      { data: { orderUpdated: { id: "0", customer_id: "c1" } } },
      { data: { orderUpdated: { id: "2", customer_id: "c1" } } },
    ]);
    assert.equal(count(actions, "drop"), 2);
    assert.equal((await all("subscription { endless }", 3)).length, 3);
    assert.deepEqual(await all("{hello}"), [{ data: { hello: "hello" } }]);
    assert.equal(count(actions, "close"), 0);
    client.close();
  });
});
