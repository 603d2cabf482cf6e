import assert from "node:assert/strict";
import { SUBPROTOCOL } from "../../../src/envoy-contract.ts";
import { eventually } from "../../support/eventually.ts";
import { FakeControlPlane, ordinary } from "../../support/fake-control-plane.ts";
import { startGateway, type RunningGateway } from "../../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import { connectSocket, type SocketClient } from "../../support/socket-client.ts";
import {
  POLICIES,
  SDL,
  startGraphqlApplication,
  type GraphqlApplication,
} from "../../support/upstreams/graphql-application.ts";

describe("end to end: tokens in connection_init, with a control plane", () => {
  let application: GraphqlApplication;
  let issuer: TestIssuer;
  let plane: FakeControlPlane;
  let gateway: RunningGateway;
  const sockets: SocketClient[] = [];

  before(async () => {
    [application, issuer, plane] = await Promise.all([
      startGraphqlApplication(),
      startIssuer(),
      FakeControlPlane.start(),
    ]);
    gateway = await startGateway({
      backend: application.url,
      issuer,
      policies: { "default.yaml": POLICIES, "api.graphql": SDL },
      config: {
        identity: {
          issuer: issuer.url,
          audience: issuer.audience,
          connection_params: ["authorization"],
          claims: { "customer.id": "customer_id" },
        },
        control_plane: { url: plane.url, api_key: plane.apiKey },
      },
    });
  });
  after(async () => {
    for (const socket of sockets) socket.close();
    await gateway.stop();
    await Promise.all([issuer.close(), application.close(), plane.close()]);
  });

  async function begin(claims: Record<string, unknown>) {
    const client = await connectSocket(`${gateway.url.replace("http", "ws")}/graphql`, {
      protocols: [SUBPROTOCOL.current],
    });
    sockets.push(client);
    const authorization = await issuer.token({ role: "viewer", ...claims });
    client.socket.send(JSON.stringify({ type: "connection_init", payload: { authorization } }));
    return client;
  }
  const acknowledged = (client: SocketClient) =>
    client.message("the acknowledgement", (text) => text.includes("connection_ack"));
  /** Talks on, because an idle connection is closed with its next message. */
  const closing = (client: SocketClient) =>
    eventually("the end", () => {
      if (client.socket.readyState === 1) client.socket.send('{"type":"ping"}');
      return client.closed();
    });

  it("end with the session, and do not begin after it", async () => {
    const open = await begin({ sid: "ses_1" });
    const other = await begin({ sid: "ses_2" });
    await Promise.all([acknowledged(open), acknowledged(other)]);
    plane.endSession("ses_1");
    assert.deepEqual(await closing(open), { code: 4403, reason: "SESSION_ENDED" });
    assert.deepEqual(await closing(await begin({ sid: "ses_1" })), { code: 4403, reason: "SESSION_ENDED" });
    assert.equal(other.closed(), undefined);
  });

  it("are of no use to a suspended customer", async () => {
    const open = await begin({ customer_id: "c-9" });
    await acknowledged(open);
    plane.setCustomer({ ...ordinary("c-9"), status: "suspended" });
    assert.equal((await closing(open)).code, 4403);
    const late = await closing(await begin({ customer_id: "c-9" }));
    assert.deepEqual([late.code, late.reason], [4403, "CUSTOMER_SUSPENDED"]);
  });
});
