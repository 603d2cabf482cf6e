import assert from "node:assert/strict";
import { WebSocketServer } from "ws";
import {
  startAnsweringUpstream,
  type AnsweringUpstream,
} from "../../support/upstreams/answering-upstream.ts";
import { eventually } from "../../support/eventually.ts";
import { startGateway, type RunningGateway } from "../../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import { connectSocket, type SocketClient } from "../../support/socket-client.ts";

const LIMIT = 3;

describe("end to end: WebSocket connections of one user", function () {
  this.timeout(180_000);
  let upstream: AnsweringUpstream;
  let issuer: TestIssuer;
  let gateway: RunningGateway;
  let server: WebSocketServer;
  const clients: SocketClient[] = [];
  before(async () => {
    [upstream, issuer] = await Promise.all([startAnsweringUpstream(), startIssuer()]);
    server = new WebSocketServer({ server: upstream.server });
    gateway = await startGateway({
      backend: upstream.url,
      issuer,
      policies: { "default.yaml": "websocket_policies:\n  - connection: { path: /feed, condition: true }\n" },
      nodes: 2,
      // by default one has an eighth of these
      config: { gateway: { performance: { connection_pool_size: 8 * LIMIT + 7 } } },
    });
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.close();
    await eventually("nothing to be open", async () => (await open()) === 0);
  });
  after(async () => {
    server.close();
    await gateway.stop();
    await Promise.all([issuer.close(), upstream.close()]);
  });

  const open = () => gateway.metric("gatehouse_websocket_connections");
  const connect = async (sub: string | undefined) => {
    const authorization = sub && `Bearer ${await issuer.token({ sub })}`;
    const client = await connectSocket(`${gateway.url.replace("http", "ws")}/feed`, {
      headers: { ...(authorization && { authorization }) },
    });
    clients.push(client);
    return client;
  };
  /**
   * Each process hears of the others' connections a moment later. What a worker says arrives in its order: when all have
   * answered twice, each has heard what the others said before.
   */
  const told = async () => {
    await open();
    await open();
  };
  /** Until one is turned down. */
  const exhaust = (sub: string | undefined) =>
    eventually("one too many", async () => {
      await told();
      return (await connect(sub)).refusal();
    });

  it("are bounded over all workers, each user's for themselves, and anonymous callers' by their address", async () => {
    for (const sub of ["u-1", "u-2", undefined]) {
      const before = await open();
      assert.equal(await exhaust(sub), 429, sub);
      assert.equal((await open()) - before, LIMIT, sub);
    }
    const denied = (await gateway.audit()).filter(({ decision }) => decision === "DENY");
    assert.deepEqual([...new Set(denied.map(({ reason }) => reason))], ["TOO_MANY_CONNECTIONS_OF_USER"]);
  });

  it("may be opened again when others are closed", async () => {
    assert.equal(await exhaust("u-3"), 429);
    clients[0]!.close();
    await eventually("room for another", async () => (await connect("u-3")).refusal() === undefined);
  });
});
