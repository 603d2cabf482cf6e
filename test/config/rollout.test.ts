import assert from "node:assert/strict";
import { loadGatewayConfig } from "../../src/config/index.ts";

function load(rollout: Readonly<Record<string, unknown>>, others: Readonly<Record<string, unknown>> = {}) {
  const overrides = Object.fromEntries(
    Object.entries(rollout).map(([name, value]) => [`rollout.${name}`, value]),
  );
  const identity = { "identity.issuer": "https://login.test", "identity.audience": "app" };
  return loadGatewayConfig({ env: {}, overrides: { ...identity, ...overrides, ...others } });
}

describe("configuration: rollout", () => {
  const refused: readonly (readonly [Readonly<Record<string, unknown>>, string])[] = [
    [{ mode: "enforced" }, "must be one of `shadow`, `enforce`"],
    [{ percentage: 101 }, "must be a whole number from 0 to 100"],
    [{ steps: [1, 10], percentage: 5 }, "has no effect with `rollout.steps`"],
    [{ steps: [10, 10] }, "must rise from step to step"],
    [{ stable: "none" }, "only with `rollout.candidate`"],
    [{ stable: "none", mode: "enforce", candidate: "a" }, "only with `rollout.mode: shadow`"],
  ];
  for (const [rollout, expected] of refused)
    it(`is refused: ${JSON.stringify(rollout)}`, () => {
      const result = load(rollout);
      assert.ok(!result.ok && result.errors.includes(expected), result.ok ? "accepted" : result.errors);
    });

  it("may have no stable set only with one of its own, and sends its records anywhere", () => {
    const plane = { "control_plane.url": "http://a.test", "control_plane.api_key": "key" };
    const none = load({ stable: "none", candidate: "a" }, { ...plane, "policies.source": "control_plane" });
    assert.ok(!none.ok && none.errors.includes("only with `policies.source: directory`"));
    const recorded = load({ candidate: "a" }, { ...plane, "audit.destination": "control_plane" });
    assert.ok(recorded.ok, recorded.ok ? "" : recorded.errors);
  });

  it("has no candidate unless one is named, and takes paths from the file's folder", () => {
    const result = load({ candidate: "next", mode: "enforce", steps: [1, 10, 100] });
    assert.ok(result.ok, result.ok ? "" : result.errors);
    const { candidate, guard, sticky_by } = result.config.rollout;
    assert.equal(candidate, `${process.cwd()}/next`);
    assert.deepEqual([guard.enabled, guard.window, sticky_by], [true, 60_000, "user"]);
    const without = load({});
    assert.ok(without.ok && without.config.rollout.candidate === undefined);
  });
});
