import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { ApolloClient, gql, InMemoryCache } from "@apollo/client";
import { GraphQLWsLink } from "@apollo/client/link/subscriptions";
import { buildSchema } from "graphql";
import { createClient, type Client } from "graphql-ws";
import { useServer } from "graphql-ws/use/ws";
import { firstValueFrom, take, toArray } from "rxjs";
import { WebSocket, WebSocketServer } from "ws";
import { identified, INIT, ME, told, useIdentifyingGateway } from "../gateway/support/identify.ts";
import { fromClient } from "../gateway/support/websocket-frames.ts";
import { eventually } from "../support/eventually.ts";
import { startGateway, type RunningGateway } from "../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../support/providers/issuer.ts";
import { connectSocket } from "../support/socket-client.ts";

const SDL = "type Query { me: String salary: Int } type Subscription { counted: Int }";
const POLICIES = `
graphql: { schema: api.graphql }
graphql_policies:
  - { query: me, condition: exists(user.id) }
  - { query: salary, condition: user.role == "admin" }
  - { subscription: counted, condition: exists(user.id) }
websocket_policies:
  - connection: { path: /graphql, condition: exists(user.id) }
`;

/** A server of graphql-ws that, like most, knows its users by `connectionParams` alone. */
async function startServer() {
  const schema = buildSchema(SDL);
  async function* counted() {
    for (let count = 1; count <= 3; count += 1) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      yield { counted: count };
    }
  }
  const params: unknown[] = [];
  const server = createServer();
  const sockets = new WebSocketServer({ server, path: "/graphql" });
  const disposable = useServer(
    {
      schema,
      roots: { query: { me: () => "Ada", salary: () => 1 }, subscription: { counted } },
      // the gateway's own limit is what is tested
      connectionInitWaitTimeout: 60_000,
      onConnect: ({ connectionParams }) => {
        params.push(connectionParams);
      },
    },
    sockets,
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    params,
    async close() {
      await disposable.dispose();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe("clients: tokens in connectionParams", function () {
  this.timeout(90_000);
  let server: Awaited<ReturnType<typeof startServer>>;
  let issuer: TestIssuer;
  let gateway: RunningGateway;
  let url: string;
  const clients: Client[] = [];

  before(async () => {
    [server, issuer] = await Promise.all([startServer(), startIssuer()]);
    gateway = await startGateway({
      backend: server.url,
      issuer,
      policies: { "default.yaml": POLICIES, "api.graphql": SDL },
      nodes: 2,
      config: {
        identity: { issuer: issuer.url, audience: issuer.audience, connection_params: ["authorization"] },
      },
    });
    url = `${gateway.url.replace("http", "ws")}/graphql`;
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.dispose();
    server.params.length = 0;
  });
  after(async () => {
    await gateway.stop();
    await Promise.all([issuer.close(), server.close()]);
  });

  const authorization = async (claims = {}) => `Bearer ${await issuer.token(claims)}`;
  /** @param tokens - of the first connection, the second, ... */
  function client(...tokens: readonly string[]): Client {
    let connections = 0;
    const made = createClient({
      url,
      webSocketImpl: WebSocket,
      retryAttempts: 5,
      shouldRetry: () => true,
      retryWait: () => new Promise((resolve) => setTimeout(resolve, 50)),
      connectionParams: () => ({ authorization: tokens[connections++] ?? tokens.at(-1), locale: "de" }),
    });
    clients.push(made);
    return made;
  }

  it("Apollo Client: queries and subscriptions, and the application gets the parameters as they are", async () => {
    const token = await authorization();
    const apollo = new ApolloClient({ link: new GraphQLWsLink(client(token)), cache: new InMemoryCache() });
    const { data } = await apollo.query({ query: gql("{ me }") });
    assert.deepEqual(data, { me: "Ada" });
    await assert.rejects(apollo.query({ query: gql("{ salary }") }), /not permitted|denied/i);
    const events = await firstValueFrom(
      apollo.subscribe({ query: gql("subscription { counted }") }).pipe(take(3), toArray()),
    );
    assert.deepEqual(
      events.map((event) => event.data),
      [{ counted: 1 }, { counted: 2 }, { counted: 3 }],
    );
    // a lazy client has a connection for each
    assert.ok(server.params.length > 0);
    for (const params of server.params) assert.deepEqual(params, { authorization: token, locale: "de" });
  });

  it("graphql-ws: asks for its parameters again after a token that has expired", async () => {
    const good = await authorization();
    const run = client(await authorization({ exp: 1 }), "Bearer undefined", good).iterate({
      query: "{ me }",
    });
    assert.deepEqual(((await run.next()) as { value: unknown }).value, { data: { me: "Ada" } });
    assert.deepEqual(server.params, [{ authorization: good, locale: "de" }]);
  });

  it("graphql-ws: connects again when its worker is gone", async () => {
    const token = await authorization();
    const made = client(token);
    assert.deepEqual((await made.iterate({ query: "{ me }" }).next()).value, { data: { me: "Ada" } });
    // a connection whose worker dies before it is asked
    const waiting = await connectSocket(url, { protocols: ["graphql-transport-ws"] });
    const { workers } = await gateway.children();
    for (const worker of workers) process.kill(worker, "SIGKILL");
    waiting.socket.send(JSON.stringify({ type: "connection_init", payload: { authorization: token } }));
    const { code, reason } = await waiting.closing();
    assert.deepEqual([code, reason], [1013, "SERVICE_UNAVAILABLE"]);
    assert.ok(!waiting.messages.some((text) => text.includes("connection_ack")));
    await eventually("the answer of a new connection", async () => {
      const one = client(token);
      return (
        JSON.stringify((await one.iterate({ query: "{ me }" }).next()).value) === '{"data":{"me":"Ada"}}'
      );
    });
  });

  it("any: is disconnected if it only pings for ten seconds, and the application hears of nobody", async () => {
    const silent = await connectSocket(url, { protocols: ["graphql-transport-ws"] });
    const pings = setInterval(() => {
      if (silent.socket.readyState === WebSocket.OPEN) silent.socket.send('{"type":"ping"}');
    }, 500);
    const { code } = await silent.closing();
    clearInterval(pings);
    assert.equal(code, 4408);
    assert.deepEqual(server.params, []);
  });
});

describe("clients: a service that takes longer than a client may wait with its token", function () {
  this.timeout(60_000);
  const gateway = useIdentifyingGateway("30s");

  it("does not end the connection", async () => {
    gateway.sockets.gateway.authz.identify = () =>
      new Promise((resolve) => {
        setTimeout(() => {
          resolve(identified());
        }, 12_000);
      });
    const { client, server } = await gateway.open();
    await client.write(fromClient(INIT), fromClient(ME));
    await eventually("the operation", () => server.said.includes(`text ${ME}`));
    assert.deepEqual(told(server), [`text ${INIT}`, `text ${ME}`]);
  });
});
