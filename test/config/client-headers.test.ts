import assert from "node:assert/strict";
import { loadGatewayConfig } from "../../src/config/index.ts";

describe("configuration: headers that clients may not use", () => {
  const load = (identity: Readonly<Record<string, unknown>>) =>
    loadGatewayConfig({
      env: {},
      overrides: Object.fromEntries(
        Object.entries(identity).map(([name, value]) => [`identity.${name}`, value]),
      ),
    });

  const refused: readonly (readonly [Readonly<Record<string, unknown>>, string])[] = [
    [{ headers: { "x-user-token": "user.id" } }, "must not set"],
    [{ headers: { "x-real-ip": "user.id" } }, "must not set"],
    [{ headers: { "x-forwarded-host": "user.id" } }, "must not set"],
    [{ headers: { forwarded: "user.id" } }, "must not set"],
    [{ header_prefixes: ["X-User-"] }, "must be a lower-case prefix"],
    [{ header_prefixes: ["x-"] }, "must not cover headers"],
    [{ header_prefixes: ["x-request"] }, "must not cover headers"],
    [{ header_prefixes: ["cook-"] }, "must not cover headers"],
    [{ client_headers: ["X-User-Agent"] }, "header name in lower case"],
    [{ client_headers: ["x-user-role"] }, "which clients may never send"],
    [{ client_headers: ["xuser-token"] }, "which clients may never send"],
    [{ headers: { "x-me": "user.id" }, client_headers: ["x-me"] }, "which clients may never send"],
    [{ headers: { "x-me": "user.id" }, client_headers: ["x-user-id"] }, "which clients may never send"],
  ];
  for (const [identity, expected] of refused) {
    it(`refuses ${JSON.stringify(identity)}`, () => {
      const result = load(identity);
      assert.ok(!result.ok);
      assert.ok(result.errors.includes(expected), result.errors);
    });
  }

  it("refuses a cookie name that makes too long an expression for Envoy", () => {
    assert.ok(load({ cookie: "c".repeat(64) }).ok);
    const result = load({ cookie: "c".repeat(65) });
    assert.ok(!result.ok);
    assert.ok(result.errors.includes("longer than 64"), result.errors);
  });

  it("takes prefixes of one's own, none, and names that an application needs", () => {
    for (const identity of [
      { header_prefixes: ["x-acme-"], client_headers: ["x-acme-trace"] },
      { header_prefixes: [] },
      { client_headers: ["x-user-agent"] },
    ]) {
      const result = load(identity);
      assert.ok(result.ok, result.ok ? "" : result.errors);
    }
  });
});
