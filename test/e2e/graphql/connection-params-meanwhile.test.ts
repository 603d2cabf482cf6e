import assert from "node:assert/strict";
import { WebSocket } from "ws";
import { SUBPROTOCOL } from "../../../src/envoy-contract.ts";
import { eventually } from "../../support/eventually.ts";
import { FakeControlPlane } from "../../support/fake-control-plane.ts";
import { startGateway, type RunningGateway } from "../../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import { connectSocket, type SocketClient } from "../../support/socket-client.ts";
import { CASE, startListener, type Listener } from "./support/listener.ts";

const SDL = "type Query { me: String salary: Int }";

const policies = (tier: string) => `
version: ${tier}
graphql: { schema: api.graphql }
graphql_policies:
  - { query: me, condition: user.tier == "${tier}" }
  - { query: salary, condition: user.role == "admin" }
websocket_policies:
  - connection: { path: /graphql, condition: exists(user.id) }
`;
const subscribe = (id: string, field: string) =>
  JSON.stringify({ id, type: "subscribe", payload: { query: `{ ${field} }` } });

interface Client extends SocketClient {
  /** What the application has heard of it. */
  readonly heard: () => readonly string[];
}

describe("end to end: tokens in connection_init, and what happens while the service is asked", () => {
  let application: Listener;
  let issuer: TestIssuer;
  let plane: FakeControlPlane;
  let gateway: RunningGateway;
  let stopped: readonly number[] = [];
  let count = 0;
  const sockets: SocketClient[] = [];

  before(async () => {
    [application, issuer, plane] = await Promise.all([
      startListener(),
      startIssuer(),
      FakeControlPlane.start(),
    ]);
    gateway = await startGateway({
      backend: application.url,
      issuer,
      policies: { "default.yaml": policies("gold"), "api.graphql": SDL },
      config: {
        // Envoy shall not take a worker for dead that a test has stopped
        gateway: {
          ...{ listen_port: 0, backend: application.url },
          cluster: { nodes: 1, health_check_interval: "5m" },
        },
        identity: {
          issuer: issuer.url,
          audience: issuer.audience,
          connection_params: ["authorization"],
          claims: { "user.tier": "tier" },
        },
        control_plane: { url: plane.url, api_key: plane.apiKey },
      },
    });
  });
  afterEach(() => {
    goOn();
    for (const socket of sockets.splice(0)) socket.close();
  });
  after(async () => {
    await gateway.stop();
    await Promise.all([issuer.close(), application.close(), plane.close()]);
  });

  /** Lets the worker answer. */
  function goOn(): void {
    for (const worker of stopped) process.kill(worker, "SIGCONT");
    stopped = [];
  }

  async function connect(): Promise<Client> {
    const name = String((count += 1));
    const client = await connectSocket(`${gateway.url.replace("http", "ws")}/graphql`, {
      protocols: [SUBPROTOCOL.current],
      headers: { [CASE]: name },
    });
    sockets.push(client);
    return { ...client, heard: () => application.cases.get(name)?.heard ?? [] };
  }
  const init = async (claims: Record<string, unknown> = {}) =>
    JSON.stringify({
      type: "connection_init",
      payload: { authorization: await issuer.token({ role: "viewer", tier: "gold", ...claims }) },
    });
  const ME = subscribe("1", "me");
  const SALARY = subscribe("2", "salary");

  /** A client that has sent its first message, and operations right behind; its worker stands still. */
  async function asking(claims: Record<string, unknown> = {}) {
    const client = await connect();
    const first = await init(claims);
    stopped = (await gateway.children()).workers;
    for (const worker of stopped) process.kill(worker, "SIGSTOP");
    for (const text of [first, SALARY, ME]) client.socket.send(text);
    // for Envoy to ask: without, the test would only show less
    await new Promise((resolve) => setTimeout(resolve, 200));
    assert.deepEqual(client.heard(), []);
    return { client, first };
  }
  /** Talks on, because a connection is closed with its next message. */
  const endOf = async (client: SocketClient) => {
    const { code, reason } = await eventually("the end", () => {
      if (client.socket.readyState === WebSocket.OPEN) client.socket.send('{"type":"ping"}');
      return client.closed();
    });
    return `${String(code)} ${reason}`;
  };

  it("nothing passes, and then what is permitted", async () => {
    const { client, first } = await asking();
    for (let round = 0; round < 20; round += 1) client.socket.send('{"type":"ping"}');
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.deepEqual(client.heard(), []);
    goOn();
    await eventually("all of it", () => client.heard().length === 22);
    assert.deepEqual(client.heard().slice(0, 3), [`text ${first}`, `text ${ME}`, 'text {"type":"ping"}']);
    assert.match(await client.message("the refusal", (text) => text.includes('"id":"2"')), /ACCESS_DENIED/);
  });

  it("its session ends: it does not outlive that", async () => {
    const { client } = await asking({ sid: "ses_meanwhile" });
    plane.endSession("ses_meanwhile");
    goOn();
    assert.equal(await endOf(client), "4403 SESSION_ENDED");
    const late = await connect();
    late.socket.send(await init({ sid: "ses_meanwhile" }));
    late.socket.send(ME);
    assert.equal(await endOf(late), "4403 SESSION_ENDED");
    assert.deepEqual(late.heard(), []);
  });

  it("its token expires: the application hears of nothing", async () => {
    const exp = Math.floor(Date.now() / 1000) + 3;
    const { client } = await asking({ exp });
    await eventually("the expiry", () => Date.now() / 1000 > exp);
    goOn();
    assert.equal(await endOf(client), "4403 TOKEN_EXPIRED");
    assert.deepEqual(client.heard(), []);
  });

  it("the client leaves: the application hears of no operation that it may not see", async () => {
    const { client } = await asking({ tier: "silver" });
    client.close();
    goOn();
    await eventually("the record", async () =>
      (await gateway.audit()).some((line) => String(line["detail"]).includes("connection_init of")),
    );
    assert.ok(!client.heard().some((text) => text.includes("subscribe")), client.heard().join());
  });

  it("other policies come into force: they decide in the end", async () => {
    const { client } = await asking();
    await gateway.writePolicies({ "default.yaml": policies("platinum") });
    goOn();
    assert.equal(await endOf(client), "1012 POLICY_CHANGED");
    await eventually("an operation that the new set denies", async () => {
      const next = await connect();
      next.socket.send(await init());
      next.socket.send(ME);
      next.socket.send('{"type":"ping"}');
      await eventually("the ping", () => next.heard().some((text) => text.includes("ping")));
      return !next.heard().includes(`text ${ME}`);
    });
    await gateway.writePolicies({ "default.yaml": policies("gold") });
  });

  it("its worker is killed: nothing passes, and another connection is served", async () => {
    const { client } = await asking();
    const killed = stopped;
    stopped = [];
    for (const worker of killed) process.kill(worker, "SIGKILL");
    assert.equal(await endOf(client), "1013 SERVICE_UNAVAILABLE");
    assert.deepEqual(client.heard(), []);
    await eventually("a connection that is served", async () => {
      const next = await connect();
      if (next.refusal() !== undefined) return false;
      next.socket.send(await init());
      next.socket.send(ME);
      return eventually("its end or its operation", () =>
        next.closed() === undefined ? next.heard().includes(`text ${ME}`) || undefined : "closed",
      ).then((found) => found === true);
    });
  });
});
