import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { ApolloClient, gql, InMemoryCache } from "@apollo/client";
import { GraphQLWsLink } from "@apollo/client/link/subscriptions";
import { buildSchema } from "graphql";
import { createClient, type Client } from "graphql-ws";
import { useServer } from "graphql-ws/use/ws";
import type { Browser } from "playwright-core";
import { firstValueFrom, take, toArray } from "rxjs";
import { WebSocket, WebSocketServer } from "ws";
import { identified, INIT, ME, told, useIdentifyingGateway } from "../gateway/support/identify.ts";
import { fromClient } from "../gateway/support/websocket-frames.ts";
import { eventually } from "../support/eventually.ts";
import { startGateway, type RunningGateway } from "../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../support/providers/issuer.ts";
import { connectSocket } from "../support/socket-client.ts";
import { startBrowser, tlsOfTests } from "./support/browser.ts";

const SDL = "type Query { me: String salary: Int } type Subscription { counted: Int ticking: Int }";
const POLICIES = `
graphql: { schema: api.graphql }
policies:
  - { resource: GET /, condition: true }
  - { resource: GET /graphql-ws.js, condition: true }
graphql_policies:
  - { query: me, condition: exists(user.id) }
  - { query: salary, condition: user.role == "admin" }
  - { subscription: counted, condition: exists(user.id) }
  - { subscription: ticking, condition: exists(user.id) }
websocket_policies:
  - connection: { path: /graphql, condition: exists(user.id) }
`;

/** graphql-ws as pages load it. */
const BUNDLE = new URL("../../node_modules/graphql-ws/umd/graphql-ws.min.js", import.meta.url);

/** A server of graphql-ws that, like most, knows its users by `connectionParams` alone; and a page with its client. */
async function startServer() {
  const bundle = await readFile(BUNDLE);
  const schema = buildSchema(SDL);
  async function* counted() {
    for (let count = 1; count <= 3; count += 1) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      yield { counted: count };
    }
  }
  async function* ticking() {
    for (let count = 1; ; count += 1) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      yield { ticking: count };
    }
  }
  const params: unknown[] = [];
  const server = createServer((request, response) => {
    const isPage = request.url === "/";
    response.setHeader("content-type", isPage ? "text/html" : "text/javascript");
    response.end(
      isPage ? '<!doctype html><title>page</title><script src="/graphql-ws.js"></script>' : bundle,
    );
  });
  const sockets = new WebSocketServer({ server, path: "/graphql" });
  const disposable = useServer(
    {
      schema,
      roots: { query: { me: () => "Ada", salary: () => 1 }, subscription: { counted, ticking } },
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

  it("graphql-ws: goes on with its subscription under a new token when one expires", async () => {
    const short = await authorization({ exp: Math.floor(Date.now() / 1000) + 12 });
    const good = await authorization();
    const events = client(short, good).iterate({ query: "subscription { ticking }" });
    await eventually("an event of each connection", async () => {
      const { value } = (await events.next()) as { value: { data?: unknown; errors?: unknown } };
      assert.equal(value.errors, undefined);
      return server.params.length === 2;
    });
    assert.ok(((await events.next()).value as { data?: unknown }).data);
    assert.deepEqual(
      server.params,
      [short, good].map((token) => ({ authorization: token, locale: "de" })),
    );
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

/** RFC 8441: a browser opens WebSocket connections within HTTP/2. */
describe("clients: tokens in connectionParams of a page in Chromium, over TLS and HTTP/2", function () {
  this.timeout(120_000);
  let server: Awaited<ReturnType<typeof startServer>>;
  let issuer: TestIssuer;
  let gateway: RunningGateway;
  let browser: Browser;

  before(async () => {
    const tls = await tlsOfTests();
    [server, issuer, browser] = await Promise.all([startServer(), startIssuer(), startBrowser()]);
    gateway = await startGateway({
      backend: server.url,
      issuer,
      policies: { "default.yaml": POLICIES, "api.graphql": SDL },
      config: {
        gateway: { security: tls.security },
        identity: { issuer: issuer.url, audience: issuer.audience, connection_params: ["authorization"] },
      },
    });
  });
  after(async () => {
    await browser.close();
    await gateway.stop();
    await Promise.all([issuer.close(), server.close()]);
  });

  it("graphql-ws: operations for its user, events, and a new token when one expires", async () => {
    const page = await browser.newPage({ ignoreHTTPSErrors: true });
    await page.goto(gateway.url.replace("127.0.0.1", "localhost"));
    const protocol = await page.evaluate("performance.getEntriesByType('navigation')[0].nextHopProtocol");
    assert.equal(protocol, "h2");
    const tokens = [
      await issuer.token({ exp: 1 }),
      await issuer.token({ exp: Math.floor(Date.now() / 1000) + 20 }),
      await issuer.token({ role: "admin" }),
    ];
    const got: unknown = await page.evaluate(`(async () => {
      const tokens = ${JSON.stringify(tokens)};
      let asked = 0;
      const client = graphqlWs.createClient({
        url: location.origin.replace("http", "ws") + "/graphql",
        retryWait: () => new Promise((resolve) => setTimeout(resolve, 50)),
        connectionParams: () => ({ authorization: "Bearer " + tokens[Math.min(asked++, 2)] }),
      });
      const one = async (query) => (await client.iterate({ query }).next()).value;
      const ticks = client.iterate({ query: "subscription { ticking }" });
      const first = (await ticks.next()).value;
      const me = await one("{ me }");
      const denied = await one("{ salary }").catch((errors) => errors);
      while (asked < 3) await ticks.next();
      await ticks.next();
      const permitted = await one("{ salary }");
      return { first, me, denied, permitted };
    })()`);
    const { denied, ...others } = got as { denied: unknown };
    assert.deepEqual(others, {
      first: { data: { ticking: 1 } },
      me: { data: { me: "Ada" } },
      permitted: { data: { salary: 1 } },
    });
    assert.match(JSON.stringify(denied), /ACCESS_DENIED/);
    // the application has heard of no connection with the token that was refused
    assert.deepEqual(
      server.params,
      tokens.slice(1).map((token) => ({ authorization: `Bearer ${token}` })),
    );
  });
});

describe("clients: a service that takes longer than a client may wait with its token", function () {
  this.timeout(180_000);
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
