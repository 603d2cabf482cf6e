import assert from "node:assert/strict";
import { loadGatewayConfig, routeLimits, usualLimits } from "../../src/config/index.ts";

const load = (...routes: readonly unknown[]) =>
  loadGatewayConfig({ env: {}, overrides: { "gateway.routes": routes } });

describe("configuration of routes", () => {
  it("keeps the usual limits, except those that a route names", () => {
    const loaded = load({ path: "/a/{b}", request_size_limit: "1KB", idle_timeout: "1h" });
    assert.ok(loaded.ok);
    const usual = usualLimits(loaded.config);
    const [{ segments, ...limits }] = routeLimits(loaded.config) as [ReturnType<typeof routeLimits>[number]];
    assert.deepEqual(
      segments.map(({ kind }) => kind),
      ["literal", "param"],
    );
    const idle = { streamIdleTimeout: 3_600_000, websocketIdleTimeout: 3_600_000 };
    assert.deepEqual(limits, { ...usual, ...idle, requestSize: 1000 });
  });

  const limit = { idle_timeout: "1s" };
  const cases: readonly (readonly [routes: readonly unknown[], expected: string])[] = [
    [["/a"], "must be"],
    [[limit], "`gateway.routes.0.path` is missing"],
    [[{ path: "/a" }], "has no limits"],
    [[{ path: "a", ...limit }], "must begin with `/`"],
    [[{ path: "GET /a", ...limit }], "a method is not allowed here"],
    [[{ path: "/a/**/b", ...limit }], "only at the end"],
    [[{ path: "/a%2fb", ...limit }], "paths are compared decoded"],
    [[{ path: "/a", idle_timeout: "never" }], "must be a duration"],
    [[{ path: "/a", idle_timeuot: "1s" }], "`gateway.routes.0.idle_timeuot` is not a key"],
    [[{ path: "/a", request_timeout: "59s" }], "is shorter than"],
    [
      [
        { path: "/a/{b}", ...limit },
        { path: "/A/{c}/", ...limit },
      ],
      "the same paths as `gateway.routes.0.path`",
    ],
    [Array.from({ length: 101 }, (_, index) => ({ path: `/${String(index)}`, ...limit })), "at most 100"],
  ];
  for (const [routes, expected] of cases) {
    it(`refuses ${JSON.stringify(routes).slice(0, 80)}`, () => {
      const loaded = load(...routes);
      assert.ok(!loaded.ok);
      assert.ok(loaded.errors.includes(expected), loaded.errors);
    });
  }
});
