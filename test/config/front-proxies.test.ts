import assert from "node:assert/strict";
import { loadGatewayConfig } from "../../src/config/index.ts";

describe("configuration: front proxies", () => {
  const load = (gateway: Readonly<Record<string, unknown>>) =>
    loadGatewayConfig({
      env: {},
      overrides: Object.fromEntries(
        Object.entries(gateway).map(([name, value]) => [`gateway.${name}`, value]),
      ),
    });
  const trusted_proxies = ["10.0.0.1"];

  const refused: readonly (readonly [Readonly<Record<string, unknown>>, string])[] = [
    [{ proxy_protocol: "http" }, "needs `gateway.trusted_proxies`"],
    [{ proxy_protocol: "on", trusted_proxies }, "`tcp`"],
    [{ trusted_hops: 2 }, "`gateway.trusted_proxies` is empty"],
    [{ trusted_hops: 0, trusted_proxies }, "from 1 to 20"],
    [{ trusted_hops: 2, proxy_protocol: "tcp", trusted_proxies }, "the PROXY protocol says"],
    [{ forwarded_headers: ["x-forwarded-port"], trusted_proxies }, "`x-forwarded-for`"],
  ];
  for (const [gateway, expected] of refused) {
    it(`refuses ${JSON.stringify(gateway)}`, () => {
      const result = load(gateway);
      assert.ok(!result.ok);
      assert.ok(result.errors.includes(expected), result.errors);
    });
  }

  it("believes the usual headers of proxies, and no PROXY protocol", () => {
    const result = load({ trusted_proxies });
    assert.ok(result.ok);
    const {
      forwarded_headers: headers,
      proxy_protocol: protocol,
      trusted_hops: hops,
    } = result.config.gateway;
    const usual = ["x-forwarded-for", "x-forwarded-proto", "x-forwarded-host"];
    assert.deepEqual([headers, protocol, hops], [usual, "off", undefined]);
  });
});
