import assert from "node:assert/strict";
import { createClient, type Client } from "graphql-ws";
import { WebSocket } from "ws";
import { eventually } from "../../support/eventually.ts";
import { startGateway, type RunningGateway } from "../../support/gateway.ts";
import {
  POLICIES,
  SDL,
  startGraphqlApplication,
  type GraphqlApplication,
} from "../../support/upstreams/graphql-application.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import { subscriber } from "../../support/graphql-subscriber.ts";
import { connectSocket } from "../../support/socket-client.ts";

describe("end to end: GraphQL over WebSocket", () => {
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
  const clients: Client[] = [];
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.dispose();
  });

  async function connected(claims: Record<string, unknown>, path = "/graphql") {
    const authorization = `Bearer ${await issuer.token(claims)}`;
    class Socket extends WebSocket {
      constructor(url: string, protocols: string | string[]) {
        super(url, protocols, { headers: { authorization } });
      }
    }
    const url = `${gateway.url.replace("http", "ws")}${path}`;
    const client = createClient({ url, webSocketImpl: Socket, retryAttempts: 0, lazy: true });
    clients.push(client);
    return subscriber(client);
  }

  it("evaluates operations at subscribe", async () => {
    const run = await connected(VIEWER);
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

  it("evaluates operations of a server that takes connections on any path", async () => {
    const run = await connected(VIEWER, "/live");
    const bad = run("{ me { ssn } }");
    await eventually("the refusal", () => bad.error);
    assert.match(JSON.stringify(bad.error), /ACCESS_DENIED/);
    const good = run("{ me { id } }");
    await eventually("the answer", () => good.done);
    assert.deepEqual(good.got, [{ data: { me: { id: "c-1" } } }]);
  });

  it("delivers only the events that the condition permits", async () => {
    const run = await connected(VIEWER);
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
    const run = await connected(VIEWER);
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
