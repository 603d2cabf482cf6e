import assert from "node:assert/strict";
import { loadGatewayConfig } from "../../src/config/index.ts";

const load = (keys: Readonly<Record<string, unknown>>) =>
  loadGatewayConfig({
    env: {},
    overrides: { "identity.issuer": "https://login.test", "identity.audience": "app", ...keys },
  });

describe("configuration: who asks for decisions over HTTP, and the fleet", () => {
  const listens = { "authz.http_listen": "127.0.0.1:9292" };
  const refused: readonly (readonly [Readonly<Record<string, unknown>>, string])[] = [
    [{ ...listens, "authz.http_callers": ["10.0.0"] }, "must be an address, a network"],
    [{ ...listens, "authz.http_callers": ["10.0.0/8"] }, "must be an address, a network"],
    [{ "authz.http_listen": "9292", "authz.http_callers": ["127.0.0.1"] }, "must be an address and port"],
    [listens, "nobody may ask"],
    [{ "authz.http_callers": ["127.0.0.1"] }, "has no effect without `authz.http_listen`"],
    [{ ...listens, "authz.http_callers": ["a.test"] }, "needs `authz.tls.client_ca`"],
    [
      { "authz.http_listen": "127.0.0.1:9191", "authz.http_callers": ["127.0.0.1"] },
      "has ports of `authz.listen`",
    ],
    [{ "gateway.cluster.coordination": "redis" }, "must be one of `local`, `control_plane`, not `redis`"],
    [{ "gateway.cluster.coordination": "control_plane" }, "needs `control_plane.url`"],
  ];
  for (const [keys, expected] of refused)
    it(`is refused: ${JSON.stringify(keys)}`, () => {
      const result = load(keys);
      assert.ok(!result.ok && result.errors.includes(expected), result.ok ? "accepted" : result.errors);
    });

  it("is taken with addresses and networks", () => {
    const result = load({ ...listens, "authz.http_callers": ["127.0.0.1", "::1", "10.0.0.0/8"] });
    assert.ok(result.ok, result.ok ? "" : result.errors);
  });
});
