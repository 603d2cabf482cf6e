import assert from "node:assert/strict";
import { connect, type IncomingHttpHeaders } from "node:http2";
import { availableParallelism } from "node:os";
import { askAdmin } from "../../../src/gateway/envoy-admin.ts";
import { envoyBinary } from "../../support/envoy.ts";
import { sendHttp2 } from "../../support/http2-request.ts";
import { ALLOW, ASK_AGAIN, headerValues, type Check } from "../support/authz-stub.ts";
import { send, until, type SendOptions } from "../support/client.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";

/** Checks at a worker, from the one thread of this Envoy. */
const UNDER_WAY = Math.max(8, Math.floor(256 / availableParallelism()));
/** Checks in Envoy. */
const WAITING = 1024;
const TOKEN = { authorization: "Bearer x" };

before(async function () {
  this.timeout(300_000);
  await envoyBinary();
});

describe("checks of requests without a credential", () => {
  let gateway: TestGateway;

  beforeEach(async () => {
    gateway = await startGateway({ overrides: { "authz.decision_timeout": "30s" } });
  });
  afterEach(() => gateway.stop());

  const statistic = async (name: string): Promise<number> => {
    const { body } = await askAdmin(gateway.envoy.admin, "GET", `/stats?filter=^${name}$`);
    const value = /: (\d+)\s*$/.exec(body)?.[1];
    assert.ok(value !== undefined, `${name}: ${body}`);
    return Number(value);
  };
  const asked = async (): Promise<{ anonymous: number; others: number }> => ({
    anonymous: await statistic("cluster.ext_authz_anonymous.upstream_rq_total"),
    others: await statistic("cluster.ext_authz.upstream_rq_total"),
  });
  /** How many checks went over which connections meanwhile. */
  const asking = async (requests: () => Promise<unknown>) => {
    const before = await asked();
    await requests();
    const after = await asked();
    return [after.anonymous - before.anonymous, after.others - before.others];
  };

  const handshake = {
    connection: "upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
  };
  const kinds: Readonly<Record<string, SendOptions>> = {
    "requests without a body": {},
    "requests with a body": { method: "POST", body: "x" },
    "requests with a body of unknown length": { method: "POST", body: "x", chunked: true },
    handshakes: { headers: handshake },
  };
  for (const [kind, options] of Object.entries(kinds)) {
    it(`go over connections of their own: ${kind}`, async () => {
      const withToken = { ...options, headers: { ...options.headers, ...TOKEN } };
      assert.deepEqual(await asking(() => send(gateway.port, "/a", options)), [1, 0]);
      assert.deepEqual(await asking(() => send(gateway.port, "/a", withToken)), [0, 1]);
    });
  }

  it("go over connections of their own when they are asked again, with the body", async () => {
    gateway.authz.decide = ({ attributes }) =>
      attributes.contextExtensions["gatehouse_body"] === "on_request" ? ASK_AGAIN : ALLOW;
    const options = { method: "POST", body: "x" };
    assert.deepEqual(await asking(() => send(gateway.port, "/a", options)), [2, 0]);
    assert.deepEqual(await asking(() => send(gateway.port, "/a", { ...options, headers: TOKEN })), [0, 2]);
  });

  it("go over connections of their own over HTTP/2", async () => {
    const url = `http://127.0.0.1:${gateway.port}`;
    const headers = { ":path": "/a", ":method": "GET" };
    assert.deepEqual(await asking(() => sendHttp2(url, headers)), [1, 0]);
    assert.deepEqual(await asking(() => sendHttp2(url, { ...headers, ...TOKEN })), [0, 1]);
  });

  it("wait for each other, so many at most, and not in the way of callers with a credential", async () => {
    const asks = (check: Check) => headerValues(check, "authorization").length === 0;
    gateway.authz.decide = (check) => (asks(check) ? "never" : ALLOW);
    const refused: IncomingHttpHeaders[] = [];
    const sessions = Array.from({ length: 12 }, () => connect(`http://127.0.0.1:${gateway.port}`));
    try {
      for (const session of sessions) {
        session.on("error", () => undefined);
        for (let stream = 0; stream < 100; stream++) {
          const request = session.request({ ":path": "/a" });
          request.on("response", (headers) => refused.push(headers));
          request.on("error", () => undefined);
        }
      }
      const beyond = 12 * 100 - UNDER_WAY - WAITING;
      await until(() => refused.length >= beyond, "what is beyond the limit is answered");
      const callers = await Promise.all(
        Array.from({ length: 300 }, () => send(gateway.port, "/a", { headers: TOKEN })),
      );
      assert.ok(callers.every(({ status }) => status === 200));
      assert.deepEqual(
        refused.map((headers) => [headers[":status"], headers["retry-after"]]),
        Array.from({ length: beyond }, () => [503, "1"]),
      );
      assert.equal(gateway.authz.checks.filter(asks).length, UNDER_WAY);
      assert.equal(gateway.upstream.seen.length, 300);
    } finally {
      for (const session of sessions) session.destroy();
    }
  });
});
