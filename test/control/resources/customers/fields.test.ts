import assert from "node:assert/strict";
import { refusal, startManagement, type Management } from "../../support/management.ts";

describe("the fields of a customer", () => {
  let api: Management;
  before(async () => {
    api = await startManagement();
  });
  after(() => api.close());

  const url = (text: unknown) => ({ name: "x", allowed_return_urls: [text] });
  const invalid: readonly (readonly [body: unknown, ...paths: string[]])[] = [
    [{}, "name"],
    [[], ""],
    ["text", ""],
    [{ name: "" }, "name"],
    [{ name: "  " }, "name"],
    [{ name: 7 }, "name"],
    [{ name: null }, "name"],
    [{ name: "a\nb" }, "name"],
    [{ name: "a\u2028b" }, "name"],
    [{ name: "x".repeat(201) }, "name"],
    [{ name: "x", status: "archived" }, "status"],
    [{ name: "x", status: "deleted" }, "status"],
    [{ name: "x", id: "cus_mine" }, "id"],
    [{ name: "x", created_at: "2020-01-01T00:00:00Z" }, "created_at"],
    [{ name: "x", external_id: "" }, "external_id"],
    [{ name: "x", external_id: "a b" }, "external_id"],
    [{ name: "x", external_id: "x".repeat(201) }, "external_id"],
    [{ name: "x", metadata: [] }, "metadata"],
    [{ name: "x", metadata: { deep: { er: 1 } } }, "metadata.deep"],
    [{ name: "x", metadata: { long: "x".repeat(501) } }, "metadata.long"],
    [
      { name: "x", metadata: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`m${i}`, i])) },
      "metadata",
    ],
    [{ name: 1, status: 2, extra: 3 }, "name", "status", "extra"],
    [url(7), "allowed_return_urls.0"],
    [url(""), "allowed_return_urls.0"],
    [url("app"), "allowed_return_urls.0"],
    [url("/cb"), "allowed_return_urls.0"],
    [url("//app.example.com/cb"), "allowed_return_urls.0"],
    [url("http://app.example.com/cb"), "allowed_return_urls.0"],
    [url("http://127.0.0.1.evil.example/cb"), "allowed_return_urls.0"],
    [url("http://localhost.evil.example/cb"), "allowed_return_urls.0"],
    [url("javascript:alert(1)"), "allowed_return_urls.0"],
    [url("data:text/html,x"), "allowed_return_urls.0"],
    [url("com.example.app:/cb"), "allowed_return_urls.0"],
    [url("https://app.example.com/cb#part"), "allowed_return_urls.0"],
    [url("https://app.example.com/cb#"), "allowed_return_urls.0"],
    [url("https://user@app.example.com/cb"), "allowed_return_urls.0"],
    [url("https://user:pw@app.example.com/cb"), "allowed_return_urls.0"],
    [url("https://*.example.com/cb"), "allowed_return_urls.0"],
    [url("https://app.example.com/*"), "allowed_return_urls.0"],
    [url("https://App.example.com/cb"), "allowed_return_urls.0"],
    [url("https://app.example.com:443/cb"), "allowed_return_urls.0"],
    [url("https://app.example.com/a/../cb"), "allowed_return_urls.0"],
    [url("https:\\\\app.example.com\\cb"), "allowed_return_urls.0"],
    [url("https:app.example.com/cb"), "allowed_return_urls.0"],
    [url("https://app.example.com/cb\r\nx: y"), "allowed_return_urls.0"],
    [url(" https://app.example.com/cb"), "allowed_return_urls.0"],
    [url("https://app.example.com/ä"), "allowed_return_urls.0"],
    [url(`https://app.example.com/${"x".repeat(2000)}`), "allowed_return_urls.0"],
    [{ name: "x", allowed_return_urls: "https://app.example.com/" }, "allowed_return_urls"],
    [{ name: "x", allowed_return_urls: ["https://a.example/", "https://a.example/"] }, "allowed_return_urls"],
    [
      { name: "x", allowed_return_urls: Array.from({ length: 51 }, (_, i) => `https://a.example/${i}`) },
      "allowed_return_urls",
    ],
  ];
  for (const [body, ...paths] of invalid) {
    it(`refuses ${JSON.stringify(body).slice(0, 90)}`, async () => {
      assert.deepEqual(refusal(await api.request("POST", "/customers", { body })), [
        422,
        "VALIDATION_FAILED",
        ...paths,
      ]);
    });
  }

  it("takes what stands at the bounds", async () => {
    const urls = [
      "https://app.example.com",
      "https://app.example.com/",
      "http://localhost:8080/cb",
      "http://[::1]/cb",
      "https://xn--bcher-kva.example/cb?a=%20b",
    ];
    const made = await api.customer({
      name: "x".repeat(200),
      allowed_return_urls: [...urls, ...Array.from({ length: 45 }, (_, i) => `https://a.example/${i}`)],
      metadata: Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`m${i}`, "x".repeat(500)])),
    });
    assert.deepEqual((made["allowed_return_urls"] as string[]).slice(0, 5), urls);
  });
});
