import assert from "node:assert/strict";
import { loadGatewayConfig } from "../../src/config/index.ts";

describe("configuration: whose pages may use the cookie", () => {
  const load = (identity: Readonly<Record<string, unknown>>) =>
    loadGatewayConfig({
      env: {},
      overrides: Object.fromEntries(
        Object.entries(identity).map(([name, value]) => [`identity.${name}`, value]),
      ),
    });
  const refused = (identity: Readonly<Record<string, unknown>>, expected: string) => {
    const result = load(identity);
    assert.ok(!result.ok, JSON.stringify(identity));
    assert.ok(result.errors.includes(expected), result.errors);
  };

  it("is the gateway's own origin by default", () => {
    const result = load({ cookie: "session" });
    assert.ok(result.ok);
    const { cookie_origin_check, trusted_origins } = result.config.identity;
    assert.deepEqual([cookie_origin_check, trusted_origins], [true, []]);
  });

  it("takes origins as browsers write them", () => {
    for (const origin of [
      "https://app.example.com",
      "https://APP.example.com:8443",
      "http://127.0.0.1:3000",
      "http://[::1]:3000",
      "capacitor://localhost",
      "chrome-extension://abcdefghijklmnopabcdefghijklmnop",
    ])
      assert.ok(load({ cookie: "session", trusted_origins: [origin] }).ok, origin);
  });

  it("refuses what no browser sends, and what would be too much", () => {
    for (const origin of [
      "null",
      "*",
      "app.example.com",
      "https://*.example.com",
      "https://app.example.com/",
      "https://app.example.com/path",
      "https://user@app.example.com",
      "https://app.example.com:99999",
      "https://a.example.com, https://b.example.com",
      "https://[::::]",
      "https://[0:0:0:0:0:0:0:1]",
      "//app.example.com",
    ])
      refused({ cookie: "session", trusted_origins: [origin] }, "must be one origin as browsers send it");
  });

  it("refuses what would have no effect", () => {
    const trusted_origins = ["https://app.example.com"];
    refused({ trusted_origins }, "has no effect without `identity.cookie`");
    refused(
      { cookie: "session", cookie_origin_check: false, trusted_origins },
      "has no effect with `identity.cookie_origin_check: false`",
    );
    refused({ cookie_origin_check: false }, "has no effect without `identity.cookie`");
  });
});
