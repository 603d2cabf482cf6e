import assert from "node:assert/strict";
import {
  createFrontProxyReader,
  type FrontProxy,
  type FrontProxyOptions,
} from "../../../src/decision/decide/front-proxy.ts";
import type { AccessRequest } from "../../../src/decision/types.ts";
import { FORWARDED_HEADERS } from "../../../src/request/index.ts";
import { accessOf } from "../support.ts";

type Headers = readonly (readonly [string, string])[];

describe("decision: front proxy, specification 2.11", () => {
  const backends = ["http://a.test:80", "https://b.test:443"];
  const trustedProxies = ["10.0.0.0/8", "192.0.2.1", "2001:db8::/32", "::1"];
  const reader = createFrontProxyReader({ trustedProxies, backends });
  const read = (peer: string, headers: Headers = []) => reader({ raw: accessOf({ headers }).raw, peer });

  it("trusts addresses inside its networks, however they are written", () => {
    for (const peer of ["10.0.0.0", "10.255.255.255", "192.0.2.1", "2001:db8::7", "::1", "::ffff:10.1.2.3"])
      assert.equal(read(peer).trusted, true, peer);
    for (const peer of [
      "11.0.0.0",
      "192.0.2.2",
      "2001:db9::",
      "::2",
      "::ffff:11.1.2.3",
      "::10.1.2.3",
      "::a01:203",
      "",
      "10.0.0.1:80",
      "x",
    ])
      assert.equal(read(peer).trusted, false, peer);
  });

  it("trusts nobody by default", () => {
    const none = createFrontProxyReader({ trustedProxies: [], backends });
    assert.equal(none({ raw: accessOf().raw, peer: "127.0.0.1" }).trusted, false);
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
      "::192.0.2.7",
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

describe("decision: what proxies say about a request", () => {
  type Options = Partial<FrontProxyOptions> & Pick<AccessRequest, "proxyProtocol">;
  const read = (peer: string, headers: Headers, { proxyProtocol, ...options }: Options = {}) =>
    createFrontProxyReader({ trustedProxies: ["10.0.0.0/8", "2001:db8::/32"], backends: [], ...options })({
      raw: { ...accessOf({ headers }).raw, scheme: "http" },
      peer,
      ...(proxyProtocol && { proxyProtocol }),
    });
  const seen = (name: string, { raw }: FrontProxy) =>
    raw.headers.filter(([header]) => header === name).map(([, value]) => value);
  const ALL = FORWARDED_HEADERS;

  it("is ignored and replaced if a client says it", () => {
    const headers: Headers = [
      ["x-forwarded-for", "10.0.0.9"],
      ["x-forwarded-for", "10.0.0.8"],
      ["x-forwarded-proto", "https"],
      ["x-forwarded-host", "admin.test"],
      ["x-forwarded-port", "1"],
      ["x-forwarded-prefix", "/admin"],
      ["x-forwarded-ssl", "on"],
      ["forwarded", "for=10.0.0.9;proto=https"],
      ["x-real-ip", "10.0.0.9"],
      ["true-client-ip", "10.0.0.9"],
      ["cf-connecting-ip", "10.0.0.9"],
      ["front-end-https", "on"],
      ["x-original-host", "admin.test"],
      ["accept", "*/*"],
    ];
    const tcp = { proxyProtocol: "tcp" } as const;
    for (const [peer, options] of [
      ["192.0.2.1"],
      ["192.0.2.1", { trustedProxies: [] }],
      ["10.0.0.1", tcp],
    ] as const) {
      const proxy = read(peer, headers, options);
      assert.deepEqual([proxy.clientIp, proxy.trusted, proxy.host], [peer, false, undefined]);
      assert.deepEqual(proxy.raw.headers, [
        ["accept", "*/*"],
        ["x-forwarded-for", peer],
        ["x-forwarded-proto", "http"],
      ]);
      assert.equal(proxy.raw.scheme, "http");
      const { set = [], remove = [] } = proxy.changes ?? {};
      const changed = [...set.map(([name]) => name), ...remove];
      assert.deepEqual(
        changed.sort(),
        [...new Set(headers.map(([name]) => name))].sort().filter((name) => name !== "accept"),
      );
    }
  });

  it("needs no change if Envoy has set it already", () => {
    const headers: Headers = [
      ["x-forwarded-for", "192.0.2.1"],
      ["x-forwarded-proto", "http"],
    ];
    assert.equal(read("192.0.2.1", headers).changes, undefined);
    assert.equal(read("::ffff:192.0.2.1", headers).changes, undefined);
    const raw = { ...accessOf({ headers: [] }).raw, scheme: "http" };
    assert.equal(
      createFrontProxyReader({ trustedProxies: [], backends: [] })({ raw, peer: "192.0.2.1" }).raw,
      raw,
    );
    // where proxies are trusted, Envoy leaves it to the service
    assert.deepEqual(read("192.0.2.1", []).changes?.set, [["x-forwarded-for", "192.0.2.1"]]);
  });

  it("may be sent by clients if it is listed, except the four that are ours", () => {
    const headers: Headers = [
      ["x-host", "a"],
      ["x-forwarded-port", "1"],
      ["x-forwarded-host", "a"],
      ["forwarded", "for=a"],
    ];
    const clientHeaders = headers.map(([name]) => name);
    const { raw } = read("192.0.2.1", headers, { clientHeaders, trustedProxies: [] });
    assert.deepEqual(raw.headers, headers.slice(0, 2));
  });

  const chains: readonly (readonly [sent: readonly string[], address: string | undefined, hops?: number])[] =
    [
      [[], "10.0.0.1"],
      [["192.0.2.7"], "192.0.2.7"],
      // what precedes the client's address is the client's invention
      [["127.0.0.1, 10.9.9.9, 192.0.2.7"], "192.0.2.7"],
      [["127.0.0.1", "192.0.2.7"], "192.0.2.7"],
      [["nonsense, 192.0.2.7, 10.0.0.2"], "192.0.2.7"],
      [["192.0.2.6, 192.0.2.7, 10.0.0.2, 2001:db8::5"], "192.0.2.7"],
      // a proxy's own request
      [["10.0.0.3, 10.0.0.2"], "10.0.0.3"],
      // as some proxies write it
      [["192.0.2.7:4711"], "192.0.2.7"],
      [["[2001:dbb::7]:4711"], "2001:dbb::7"],
      [["2001:DBB:0:0::7"], "2001:dbb::7"],
      [["::ffff:192.0.2.7"], "192.0.2.7"],
      [[" 192.0.2.7 ,"], "192.0.2.7"],
      // nobody knows who that is
      [["unknown"], undefined],
      [["192.0.2.7, unknown"], undefined],
      [["192.0.2.7, _hidden, 10.0.0.2"], undefined],
      [["192.0.2.7;10.0.0.2"], undefined],
      [["7"], undefined],
      [["fe80::1%eth0"], undefined],
      [["::192.0.2.7"], undefined],
      // hops
      [["192.0.2.6, 192.0.2.7"], "192.0.2.7", 1],
      [["192.0.2.6, 192.0.2.7, 192.0.2.8"], "192.0.2.7", 2],
      [["x, 192.0.2.7, 10.0.0.2"], "192.0.2.7", 2],
      [[], "10.0.0.1", 2],
      [["192.0.2.7"], undefined, 2],
      [["192.0.2.7, x"], undefined, 2],
    ];
  for (const [sent, address, trustedHops] of chains) {
    it(`X-Forwarded-For ${JSON.stringify(sent)}${trustedHops === undefined ? "" : `, ${String(trustedHops)} hops`}`, () => {
      const headers: Headers = sent.map((value) => ["x-forwarded-for", value]);
      const proxy = read("10.0.0.1", headers, trustedHops === undefined ? {} : { trustedHops });
      if (address === undefined) assert.equal(proxy.refusal?.reason, "AMBIGUOUS_FORWARDING");
      else {
        assert.equal(proxy.refusal, undefined);
        assert.equal(proxy.clientIp, address);
        // the application gets the one address
        assert.deepEqual(seen("x-forwarded-for", proxy), [address]);
      }
    });
  }

  it("is the scheme and host that the client used", () => {
    const proxy = read("10.0.0.1", [
      ["x-forwarded-for", "192.0.2.7"],
      ["x-forwarded-proto", "https"],
      ["x-forwarded-host", "app.example.com:8443"],
    ]);
    assert.deepEqual([proxy.raw.scheme, proxy.host], ["https", "app.example.com:8443"]);
    assert.equal(proxy.changes, undefined);
    const twice = read("10.0.0.1", [
      ["x-forwarded-proto", "HTTPS, https"],
      ["x-forwarded-host", "a.test,A.test"],
    ]);
    assert.deepEqual([twice.raw.scheme, twice.host], ["https", "a.test"]);
    assert.deepEqual(
      [seen("x-forwarded-proto", twice), seen("x-forwarded-host", twice)],
      [["https"], ["a.test"]],
    );
    const socket = read("10.0.0.1", [["x-forwarded-proto", "wss"]]);
    assert.deepEqual([socket.raw.scheme, seen("x-forwarded-proto", socket)], ["https", ["https"]]);
    for (const value of ["", "ftp", "https:", "__proto__", "constructor"]) {
      const none = read("10.0.0.1", [["x-forwarded-proto", value]]);
      assert.deepEqual([none.raw.scheme, seen("x-forwarded-proto", none)], ["http", ["http"]], value);
    }
  });

  it("is the scheme that the proxy sent, where our Envoy has replaced it", () => {
    const headers: Headers = [["x-forwarded-proto", "http"]];
    const raw = { ...accessOf({ headers }).raw, scheme: "http" };
    const reader = createFrontProxyReader({ trustedProxies: ["10.0.0.0/8"], backends: [] });
    for (const [peer, sent, scheme] of [
      ["10.0.0.1", ["https"], "https"],
      ["10.0.0.1", [], "http"],
      ["192.0.2.1", ["https"], "http"],
    ] as const) {
      const proxy = reader({ raw, peer, forwardedProto: sent });
      assert.deepEqual([proxy.raw.scheme, seen("x-forwarded-proto", proxy)], [scheme, [scheme]]);
    }
    const both = reader({ raw, peer: "10.0.0.1", forwardedProto: ["http,https"] });
    assert.equal(both.refusal?.reason, "AMBIGUOUS_FORWARDING");
  });

  it("is refused if it contradicts itself: a part of it is the client's", () => {
    const contradictions: readonly Headers[] = [
      [
        ["x-forwarded-proto", "https"],
        ["x-forwarded-proto", "http"],
      ],
      [["x-forwarded-proto", "https, http"]],
      [["x-forwarded-host", "a.test, b.test"]],
      [
        ["x-forwarded-host", "a.test"],
        ["x-forwarded-host", "b.test"],
      ],
      [["x-forwarded-host", "a test"]],
      [["x-forwarded-host", "user@a.test"]],
      [
        ["x-real-ip", "192.0.2.9"],
        ["x-forwarded-for", "192.0.2.7"],
      ],
      [
        ["forwarded", "for=192.0.2.7"],
        ["x-forwarded-for", "192.0.2.9"],
      ],
      [
        ["forwarded", "for=192.0.2.7;proto=http"],
        ["x-forwarded-proto", "https"],
      ],
      [
        ["forwarded", "for=192.0.2.7;host=a.test"],
        ["x-forwarded-host", "b.test"],
      ],
      [["forwarded", "for=unknown"]],
      [["forwarded", "proto=https"]],
      [["forwarded", "for=192.0.2.7;for=192.0.2.8"]],
      [["forwarded", 'for="192.0.2.7']],
      [["forwarded", "192.0.2.7"]],
    ];
    for (const headers of contradictions)
      assert.equal(
        read("10.0.0.1", headers, { forwardedHeaders: ALL }).refusal?.reason,
        "AMBIGUOUS_FORWARDING",
        JSON.stringify(headers),
      );
  });

  it("may be in X-Real-IP as well, if that is one of the reported addresses", () => {
    const chain = ["x-forwarded-for", "192.0.2.7, 10.0.0.2"] as const;
    for (const real of ["192.0.2.7", "10.0.0.2", "10.0.0.1"]) {
      const proxy = read("10.0.0.1", [chain, ["x-real-ip", real]]);
      assert.deepEqual([proxy.clientIp, seen("x-real-ip", proxy)], ["192.0.2.7", ["192.0.2.7"]]);
    }
  });

  it("may be in Forwarded, if that is configured", () => {
    const headers: Headers = [
      [
        "forwarded",
        "for=10.9.9.9;proto=http;host=evil.test, " + 'for="[2001:dbb::7]:1";Proto=https;host="app.test:8443"',
      ],
      ["forwarded", "for=10.0.0.2;proto=http"],
    ];
    const proxy = read("10.0.0.1", headers, { forwardedHeaders: ALL });
    assert.deepEqual(
      [proxy.clientIp, proxy.raw.scheme, proxy.host],
      ["2001:dbb::7", "https", "app.test:8443"],
    );
    assert.deepEqual(seen("forwarded", proxy), ['for="[2001:dbb::7]";host="app.test:8443";proto=https']);
    assert.deepEqual(seen("x-forwarded-host", proxy), ["app.test:8443"]);
    // otherwise it may be the client's, and the application does not get it
    const ignored = read("10.0.0.1", headers);
    assert.deepEqual([ignored.clientIp, seen("forwarded", ignored)], ["10.0.0.1", []]);
  });

  it("is believed only in the headers that are configured", () => {
    const headers: Headers = [
      ["x-forwarded-for", "192.0.2.7"],
      ["x-forwarded-proto", "https"],
      ["x-forwarded-host", "a.test"],
    ];
    const proxy = read("10.0.0.1", headers, { forwardedHeaders: [] });
    assert.deepEqual([proxy.clientIp, proxy.raw.scheme, proxy.host], ["10.0.0.1", "http", undefined]);
    assert.deepEqual(proxy.raw.headers, [
      ["x-forwarded-for", "10.0.0.1"],
      ["x-forwarded-proto", "http"],
    ]);
  });

  it("is not the address, with the PROXY protocol", () => {
    const headers: Headers = [
      ["x-forwarded-for", "10.9.9.9"],
      ["x-real-ip", "10.9.9.9"],
      ["x-forwarded-proto", "https"],
      ["forwarded", "for=10.9.9.9"],
    ];
    const proxy = read("192.0.2.7", headers, { proxyProtocol: "http", forwardedHeaders: ALL });
    assert.deepEqual([proxy.trusted, proxy.clientIp, proxy.raw.scheme], [true, "192.0.2.7", "https"]);
    assert.deepEqual(proxy.raw.headers, [
      ["x-forwarded-proto", "https"],
      ["x-forwarded-for", "192.0.2.7"],
    ]);
  });
});
