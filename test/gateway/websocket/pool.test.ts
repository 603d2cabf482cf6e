import assert from "node:assert/strict";
import { send } from "../support/client.ts";
import { startSocketGateway, type SocketGateway } from "../support/websocket.ts";

const POOL = 3;

describe("gateway: WebSocket connections that stay open", () => {
  let sockets: SocketGateway;
  before(async () => {
    sockets = await startSocketGateway({ "gateway.performance.connection_pool_size": POOL });
  });
  after(() => sockets.stop());

  it("are bounded by themselves, and take nothing of what other requests may use", async () => {
    for (let n = 0; n < POOL; n += 1) await sockets.open({});
    sockets.permit({});
    const { head } = await sockets.knock();
    assert.match(head, /^HTTP\/1\.1 503 /);
    const plain = await Promise.all(Array.from({ length: POOL }, () => send(sockets.gateway.port, "/a")));
    assert.deepEqual(
      plain.map(({ status }) => status),
      [200, 200, 200],
    );
    sockets.reset();
    await sockets.open({});
  });
});
