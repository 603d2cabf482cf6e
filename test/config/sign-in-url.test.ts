import assert from "node:assert/strict";
import { loadGatewayConfig } from "../../src/config/index.ts";

describe("configuration: where people sign in", () => {
  const load = (url: string) => loadGatewayConfig({ env: {}, overrides: { "identity.sign_in_url": url } });

  it("takes addresses and paths, with and without the way back", () => {
    for (const url of [
      "/login",
      "/login?next={return_to}",
      "https://login.example.com",
      "http://127.0.0.1:3000/start?a=b&next={return_to}",
      "https://login.example.com/?next=https%3A%2F%2Fapp.example.com{return_to}",
      "https://login.example.com/#/start?next={return_to}",
    ]) {
      const result = load(url);
      assert.ok(result.ok, result.ok ? "" : result.errors);
      assert.equal(result.config.identity.sign_in_url, url);
    }
  });

  const refused: readonly (readonly [url: string, expected: string])[] = [
    ["javascript:alert(1)", "must be an http or https URL, or a path on the gateway such as `/login`"],
    ["data:text/html,x", "must be an http or https URL"],
    ["//login.example.com", "must be an http or https URL"],
    ["/\\login.example.com", "must be an http or https URL"],
    ["login", "must be an http or https URL"],
    ["login.example.com/start", "must be an http or https URL"],
    ["https://login.example.com/a b", "must be an http or https URL"],
    ["https://{return_to}", "must be an http or https URL"],
    ["https://login.example.com/{return_to}", "must contain `{return_to}` in its query"],
    ["/login/{return_to}", "must contain `{return_to}` in its query"],
    ["/login?a={return_to}&b={return_to}", "must contain `{return_to}` only once"],
    ["/login?next={return}", "must not contain braces other than `{return_to}`"],
    ["/login?next={{return_to}}", "must not contain braces other than `{return_to}`"],
  ];
  for (const [url, expected] of refused) {
    it(`refuses ${url}`, () => {
      const result = load(url);
      assert.ok(!result.ok);
      assert.ok(result.errors.includes(expected), result.errors);
    });
  }
});
