import assert from "node:assert/strict";
import { loadGatewayConfig } from "../../src/config/index.ts";

describe("configuration: variables that platforms set", () => {
  const load = (env: Readonly<Record<string, string>>) => {
    const result = loadGatewayConfig({ env });
    assert.ok(result.ok, result.ok ? "" : result.errors);
    return result.config.database;
  };

  it("are read under their customary names", () => {
    const database = load({
      DATABASE_URL: "postgres://a/live",
      SANDBOX_DATABASE_URL: "postgresql://a/test",
      REDIS_URL: "redis://a",
    });
    assert.equal(database.url, "postgres://a/live");
    assert.equal(database.sandbox_url, "postgresql://a/test");
    assert.equal(database.redis_url, "redis://a");
  });

  it("give way to our own, and count as not set when empty", () => {
    const database = load({
      DATABASE_URL: "postgres://a/live",
      GATEHOUSE_DATABASE_URL: "postgres://b/live",
      REDIS_URL: "",
    });
    assert.equal(database.url, "postgres://b/live");
    assert.equal(database.redis_url, undefined);
  });

  it("are refused where they name another kind of database", () => {
    const result = loadGatewayConfig({ env: { DATABASE_URL: "mysql://a/live" } });
    assert.ok(!result.ok && result.errors.includes("must be a `postgres://` URL"));
  });
});
