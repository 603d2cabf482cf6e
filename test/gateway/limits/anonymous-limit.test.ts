import assert from "node:assert/strict";
import { envoyBinary } from "../../support/envoy.ts";
import { send } from "../support/client.ts";
import { startGateway } from "../support/gateway.ts";

before(async function () {
  this.timeout(300_000);
  await envoyBinary();
});

describe("gateway rate limit for anonymous requests", () => {
  const MANY = 20;
  const credentials: readonly Readonly<Record<string, string>>[] = [
    { authorization: "Bearer x" },
    { authorization: "bearer  x" },
    { cookie: "session=x" },
    { cookie: 'a=b; session="x"' },
  ];
  const others: readonly Readonly<Record<string, string>>[] = [
    {},
    { authorization: "" },
    { authorization: "x" },
    { authorization: "Bearer " },
    { authorization: "Basic YTpi" },
    { "x-user-token": "x" },
    { cookie: "" },
    { cookie: "a=b" },
    { cookie: "session=" },
    { cookie: "session=; a=b" },
    { cookie: "zsession=1" },
    { cookie: "a=session=1" },
  ];

  it("counts X-User-Token as a credential where a proxy may send it", async () => {
    const gateway = await startGateway({
      overrides: {
        "gateway.security.rate_limiting.anonymous_requests_per_second": 1,
        "gateway.trusted_proxies": ["127.0.0.1"],
      },
    });
    try {
      for (let index = 0; index < MANY; index += 1) {
        const { status } = await send(gateway.port, "/a", { headers: { "x-user-token": "x" } });
        assert.equal(status, 200);
      }
    } finally {
      await gateway.stop();
    }
  });

  it("leaves callers with a credential out, whatever others send", async () => {
    const gateway = await startGateway({
      overrides: {
        "gateway.security.rate_limiting.anonymous_requests_per_second": 1,
        "identity.cookie": "session",
      },
    });
    const statuses = (headers: Readonly<Record<string, string>>) =>
      Promise.all(
        Array.from({ length: MANY }, async () => (await send(gateway.port, "/a", { headers })).status),
      );
    try {
      for (const headers of others) {
        const limited = (await statuses(headers)).filter((status) => status === 429).length;
        // one, and what was filled in meanwhile
        assert.ok(limited >= MANY / 2, `${JSON.stringify(headers)}: ${limited}`);
      }
      for (const headers of credentials) {
        assert.deepEqual(new Set(await statuses(headers)), new Set([200]), JSON.stringify(headers));
      }
      const answer = await send(gateway.port, "/a");
      assert.equal(answer.status === 429 ? answer.headers["retry-after"] : "1", "1");
    } finally {
      await gateway.stop();
    }
  });
});
