import assert from "node:assert/strict";
import { loadGatewayConfig, tokenSources } from "../../src/config/index.ts";

describe("configuration: identity.connection_params", () => {
  const load = (identity: Readonly<Record<string, unknown>>) =>
    loadGatewayConfig({
      env: {},
      overrides: {
        "identity.issuer": "https://login.test",
        "identity.audience": "app",
        ...Object.fromEntries(Object.entries(identity).map(([name, value]) => [`identity.${name}`, value])),
      },
    });

  it("names members of a payload by their paths, and is off by default", () => {
    const paths = (value?: unknown) => {
      const loaded = load(value === undefined ? {} : { connection_params: value });
      assert.ok(loaded.ok);
      return tokenSources(loaded.config).connectionParams;
    };
    assert.equal(paths(), undefined);
    assert.equal(paths([]), undefined);
    assert.deepEqual(paths(["authorization", "headers.Authorization", '"my.app".token']), [
      ["authorization"],
      ["headers", "Authorization"],
      ["my.app", "token"],
    ]);
  });

  const refused: readonly (readonly [unknown, string])[] = [
    ["authorization", "must be a list"],
    [[""], "must not be empty"],
    [[7], "must be text"],
    [["a..b"], "must be a member or a path of members"],
    [[".a"], "must be a member or a path of members"],
    [['a"b'], "must be a member or a path of members"],
    [['""'], "must be a member or a path of members"],
    [["a", "b", "a"], "must not list a member twice"],
    [Array.from({ length: 11 }, (_, index) => `a${String(index)}`), "must not list more than 10"],
  ];
  for (const [value, expected] of refused)
    it(`refuses ${JSON.stringify(value)}`, () => {
      const loaded = load({ connection_params: value });
      assert.ok(!loaded.ok);
      assert.ok(loaded.errors.includes(expected), loaded.errors);
    });
});
