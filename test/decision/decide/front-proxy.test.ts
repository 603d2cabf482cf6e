import assert from "node:assert/strict";
import { createFrontProxyReader } from "../../../src/decision/decide/front-proxy.ts";
import { accessOf } from "../support.ts";

type Headers = readonly (readonly [string, string])[];

describe("decision: front proxy, specification 2.11", () => {
  const backends = ["http://a.test:80", "https://b.test:443"];
  const trustedProxies = ["10.0.0.0/8", "192.0.2.1", "2001:db8::/32", "::1"];
  const reader = createFrontProxyReader({ trustedProxies, backends });
  const read = (peer: string, headers: Headers = []) => reader(accessOf({ headers }).raw, peer);

  it("trusts addresses inside its networks, however they are written", () => {
    for (const peer of ["10.0.0.0", "10.255.255.255", "192.0.2.1", "2001:db8::7", "::1", "::ffff:10.1.2.3"])
      assert.equal(read(peer).trusted, true, peer);
    for (const peer of [
      "11.0.0.0",
      "192.0.2.2",
      "2001:db9::",
      "::2",
      "::ffff:11.1.2.3",
      "",
      "10.0.0.1:80",
      "x",
    ])
      assert.equal(read(peer).trusted, false, peer);
  });

  it("trusts nobody by default", () => {
    const none = createFrontProxyReader({ trustedProxies: [], backends });
    assert.equal(none(accessOf().raw, "127.0.0.1").trusted, false);
  });

  it("takes the client's address from a trusted proxy only", () => {
    const headers: Headers = [["x-real-ip", " 203.0.113.9 "]];
    assert.equal(read("10.0.0.1", headers).clientIp, "203.0.113.9");
    assert.equal(read("11.0.0.1", headers).clientIp, "11.0.0.1");
    assert.equal(read("10.0.0.1", [["x-real-ip", "2001:db8::9"]]).clientIp, "2001:db8::9");
    assert.equal(read("10.0.0.1").clientIp, "10.0.0.1");
  });

  it("takes nothing else for an address", () => {
    for (const value of [
      "",
      "unknown",
      "203.0.113.9, 10.0.0.1",
      "203.0.113.9:80",
      "[::1]",
      "7",
      "0x7f.1",
      "010.0.0.1",
    ])
      assert.equal(read("10.0.0.1", [["x-real-ip", value]]).clientIp, "10.0.0.1", value);
  });

  it("refuses a repeated X-Real-IP of a trusted proxy", () => {
    const headers: Headers = [
      ["x-real-ip", "203.0.113.9"],
      ["x-real-ip", "203.0.113.10"],
    ];
    assert.equal(read("10.0.0.1", headers).refusal?.reason, "AMBIGUOUS_HEADERS");
    assert.equal(read("11.0.0.1", headers).refusal, undefined);
  });

  it("lets a trusted proxy choose one of the backends, to the letter", () => {
    assert.equal(read("10.0.0.1", [["x-backend-url", "http://a.test:80"]]).refusal, undefined);
    for (const value of [
      "http://a.test",
      "HTTP://a.test:80",
      "http://a.test:80/",
      "http://evil.test",
      " ",
      "",
    ])
      assert.equal(read("10.0.0.1", [["x-backend-url", value]]).refusal?.reason, "UNKNOWN_BACKEND", value);
    const twice: Headers = [
      ["x-backend-url", "http://a.test:80"],
      ["x-backend-url", "http://a.test:80"],
    ];
    assert.equal(read("10.0.0.1", twice).refusal?.reason, "UNKNOWN_BACKEND");
  });

  it("refuses whoever else chooses a backend", () => {
    for (const value of ["http://a.test:80", ""])
      assert.equal(read("11.0.0.1", [["x-backend-url", value]]).refusal?.reason, "UNTRUSTED_PROXY_HEADER");
    assert.equal(read("11.0.0.1", [["x-user-token", "abc"]]).refusal, undefined);
  });
});
