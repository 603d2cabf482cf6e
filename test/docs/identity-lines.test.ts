import assert from "node:assert/strict";
import { runInNewContext } from "node:vm";
import { createClient, type Client } from "graphql-ws";
import { load } from "js-yaml";
import { WebSocketServer } from "ws";
import { eventually } from "../support/eventually.ts";
import { startGateway, type GatewayOptions, type RunningGateway } from "../support/gateway.ts";
import { subscriber } from "../support/graphql-subscriber.ts";
import { startIssuer, type TestIssuer } from "../support/providers/issuer.ts";
import { startAnsweringUpstream } from "../support/upstreams/answering-upstream.ts";
import { POLICIES, SDL, startGraphqlApplication } from "../support/upstreams/graphql-application.ts";
import { blockWith } from "./support/page-blocks.ts";

const PAGE = "docs/identity.md";

/** The lines of JavaScript of docs/identity.md, through a gateway with the key that they are about. */
describe("docs/identity.md: what clients write", () => {
  let issuer: TestIssuer;
  const closing: (() => unknown)[] = [];

  before(async () => {
    issuer = await startIssuer();
  });
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });
  after(() => issuer.close());

  const start = async (
    backend: string,
    policies: GatewayOptions["policies"],
    identity: object,
  ): Promise<RunningGateway> => {
    const config = { identity: { issuer: issuer.url, audience: issuer.audience, ...identity } };
    const gateway = await startGateway({ backend, issuer, policies, config });
    closing.push(() => gateway.stop());
    return gateway;
  };
  /** The value of the line, with the gateway's address. */
  const run = (line: string, { url }: RunningGateway, names: object): unknown =>
    runInNewContext(line.replace("wss://app.example.com", url.replace(/^http/, "ws")), names);

  it("a token among the subprotocols of a WebSocket", async () => {
    const line = blockWith(PAGE, "new WebSocket(", "js");
    const [, prefix = ""] = /\/\/ websocket_protocol: (\S+)$/m.exec(line) ?? [];
    const upstream = await startAnsweringUpstream();
    closing.push(() => upstream.close());
    const asked: unknown[] = [];
    const sockets = new WebSocketServer({
      server: upstream.server,
      handleProtocols: (offered) => (offered.has("v1.chat") ? "v1.chat" : false),
    });
    sockets.on("connection", (_, { headers }) => {
      asked.push([headers["x-user-id"], headers["sec-websocket-protocol"]]);
    });
    const rules = "websocket_policies:\n  - connection: { path: /ws, condition: exists(user.id) }\n";
    const gateway = await start(upstream.url, { "default.yaml": rules }, { websocket_protocol: prefix });
    const token = await issuer.token({ sub: "ada" });
    const socket = run(line, gateway, { WebSocket, token }) as WebSocket;
    closing.push(() => {
      socket.close();
    });
    await eventually("the connection", () => socket.readyState === WebSocket.OPEN);
    assert.equal(socket.protocol, "v1.chat");
    assert.deepEqual(asked, [["ada", "v1.chat"]]);
  });

  it("a token in `connectionParams`", async () => {
    const application = await startGraphqlApplication();
    closing.push(() => application.close());
    const { identity } = load(blockWith(PAGE, "connection_params: [", "yaml")) as { identity: object };
    const policies = { "default.yaml": POLICIES, "api.graphql": SDL };
    const gateway = await start(application.url, policies, identity);
    const token = await issuer.token({ role: "viewer", customer_id: "c-1" });
    const client = run(blockWith(PAGE, "createClient(", "js"), gateway, { createClient, token }) as Client;
    closing.push(() => client.dispose());
    const answer = subscriber(client)("{ me { id } }");
    await eventually("the answer", () => answer.done);
    assert.deepEqual(answer.got, [{ data: { me: { id: "c-1" } } }]);
  });
});
