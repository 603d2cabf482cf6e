import assert from "node:assert/strict";
import fc from "fast-check";
import { decodeCheck } from "../../src/extauthz/decode.ts";
import { RECORDED, encode, decode, rawHeaders, malformed } from "./support/checks.ts";

describe("extauthz: decode", () => {
  it("reads what Envoy sends", () => {
    const { receivedAt, ...call } = decodeCheck(RECORDED);
    assert.equal(new Date(receivedAt).toISOString().slice(0, 4), "2026");
    assert.deepEqual(call, {
      request: {
        method: "GET",
        target: "/x?y=1",
        scheme: "http",
        host: "127.0.0.1:18123",
        protocol: "HTTP/1.1",
        headers: [
          ["user-agent", "curl/7.88.1"],
          ["accept", "*/*"],
          ["x-forged", "1"],
          ["x-user-id", "evil"],
          ["x-r", "1"],
          ["x-r", "2"],
          ["x-bin", "aÿéb"],
          ["x-forwarded-proto", "http"],
          ["x-request-id", "958570a4-2988-41da-bc67-f91f4cf1a355"],
        ],
      },
      source: { address: "127.0.0.1", port: 53504 },
      requestId: "958570a4-2988-41da-bc67-f91f4cf1a355",
      streamId: "15045881585308386697",
      contextExtensions: Object.create(null) as object,
      headersJoined: false,
    });
  });

  it("reads any request as Envoy's protos would", () => {
    const latin1 = fc.string({
      unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
    });
    const name = fc
      .stringMatching(/^[a-z][a-z-]{0,12}$/)
      .filter((it) => !["x-request-id", "traceparent"].includes(it));
    const ascii = fc.string({ unit: "grapheme-ascii" });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(name, latin1), { minLength: 1 }),
        fc.record({ method: ascii, path: ascii, host: ascii, scheme: ascii, protocol: ascii, id: fc.uuid() }),
        fc.record({ address: fc.ipV6(), port_value: fc.integer({ min: 1, max: 65535 }) }),
        fc.integer({ min: 1, max: 4e9 }),
        fc.integer({ min: 0, max: 999_999_999 }),
        fc.dictionary(fc.string(), fc.string()),
        (headers, http, socket_address, seconds, nanos, context_extensions) => {
          const call = decode({
            source: { address: { socket_address }, principal: "spiffe://a", labels: { a: "b" } },
            time: { seconds, nanos },
            http: { ...http, ...rawHeaders(...headers), size: -1, query: "ignored", fragment: "too" },
            rest: { context_extensions, destination: { service: "x" }, tls_session: { sni: "s" } },
          });
          const { method, path: target, host, scheme, protocol } = http;
          assert.deepEqual(call.request, { method, target, host, scheme, protocol, headers });
          assert.deepEqual(call.source, { address: socket_address.address, port: socket_address.port_value });
          assert.equal(call.receivedAt, seconds * 1000 + Math.floor(nanos / 1e6));
          assert.deepEqual({ ...call.contextExtensions }, { ...context_extensions });
          assert.equal(call.requestId, http.id);
        },
      ),
    );
  });

  describe("headers", () => {
    it("keep their order, repetitions and bytes", () => {
      const headers = [
        ["b", "1"],
        ["a", "\xff\0é"],
        ["b", "2"],
        ["b", ""],
      ] as const;
      const call = decode({ http: rawHeaders(...headers) });
      assert.deepEqual(call.request.headers, headers);
      assert.equal(call.headersJoined, false);
    });

    it("of any length and number are what they were", () => {
      for (const [count, length] of [
        [3, 99],
        [3, 100],
        [2, 40_000],
        [2_000, 50],
      ] as const) {
        const headers = Array.from(
          { length: count },
          (_, index) => [`h-${index}`, `${index}`.padEnd(length, "\xe9")] as const,
        );
        assert.deepEqual(
          decode({ http: { ...rawHeaders(...headers), protocol: "HTTP/2" } }).request.headers,
          headers,
        );
      }
      const twice = Buffer.concat([
        encode({ http: rawHeaders(["a", "1"]) }),
        encode({ http: rawHeaders(["b", "22"]) }),
      ]);
      assert.deepEqual(decodeCheck(twice).request.headers, [
        ["a", "1"],
        ["b", "22"],
      ]);
    });

    it("come from `value` where there is no raw one, and are lower case", () => {
      const call = decode({ http: { header_map: { headers: [{ key: "X-A", value: "é" }] } } });
      assert.deepEqual(call.request.headers, [["x-a", "\xc3\xa9"]]);
    });

    it("joined by Envoy are marked", () => {
      const call = decode({ http: { headers: { "x-a": "1,2", ":path": "/p", authorization: "Bearer é" } } });
      assert.deepEqual(call.request.headers, [
        ["x-a", "1,2"],
        ["authorization", "Bearer \xc3\xa9"],
      ]);
      assert.equal(call.request.target, "/p");
      assert.equal(call.headersJoined, true);
    });

    it("that are pseudo-headers come before the fields, which Envoy has made UTF-8", () => {
      const { request } = decode({
        http: {
          method: "x",
          path: "/!",
          host: "h!",
          scheme: "s",
          ...rawHeaders(
            [":method", "GET"],
            [":path", "/\xff"],
            [":authority", "h\xff"],
            [":scheme", "https"],
            [":protocol", "p"],
          ),
        },
      });
      assert.deepEqual(request, {
        method: "GET",
        target: "/\xff",
        host: "h\xff",
        scheme: "https",
        protocol: "",
        headers: [],
      });
    });

    for (const name of [":method", ":path", ":scheme", ":authority"]) {
      it(`must not have two ${name}`, () => {
        malformed(encode({ http: rawHeaders([name, "a"], [name, "a"]) }));
      });
    }
  });

  describe("body", () => {
    const partial = (value: string) => rawHeaders(["x-envoy-auth-partial-body", value], ["a", "b"]);
    const body = Buffer.from([0, 255, 13]);

    it("is bytes, complete when Envoy says so, and Envoy's note is taken out", () => {
      const { request } = decode({ http: { ...partial("false"), raw_body: body } });
      assert.deepEqual(request.body, { bytes: body, complete: true });
      assert.deepEqual(request.headers, [["a", "b"]]);
    });

    it("may come as text", () => {
      const { request } = decode({ http: { ...partial("false"), body: "é" } });
      assert.deepEqual(request.body, { bytes: Buffer.from("é"), complete: true });
    });

    it("is not complete otherwise", () => {
      const notes = [["true"], [""], ["FALSE"], ["false", "true"], ["true", "false"], []];
      for (const values of notes) {
        const headers = values.map((value) => ["x-envoy-auth-partial-body", value] as const);
        assert.equal(
          decode({ http: { ...rawHeaders(...headers), raw_body: body } }).request.body?.complete,
          false,
        );
      }
    });

    it("is absent where Envoy did not send one, whatever a client says", () => {
      assert.ok(!("body" in decode({ http: partial("false") }).request));
    });
  });

  it("takes the request id from the header when it is harmless, else Envoy's own", () => {
    const idOf = (...ids: string[]) =>
      decode({ http: { id: "42", ...rawHeaders(...ids.map((id) => ["x-request-id", id] as const)) } })
        .requestId;
    assert.equal(idOf("a-b"), "a-b");
    assert.equal(idOf("a", "b"), "a");
    for (const id of ["", "a b", "a\n", "é", "x".repeat(129)]) assert.equal(idOf(id), "42");
    assert.equal(idOf(), "42");
    assert.equal(decode({ http: { id: "a\nb" } }).requestId, "");
  });

  it("takes the trace context when there is one", () => {
    const traceOf = (...values: string[]) =>
      decode({ http: rawHeaders(...values.map((value) => ["traceparent", value] as const)) }).traceparent;
    assert.equal(traceOf("00-a"), "00-a");
    assert.equal(traceOf("00-a", "00-b"), undefined);
    assert.equal(traceOf(), undefined);
  });

  it("takes now for a time that is missing or none", () => {
    for (const time of [
      undefined,
      { seconds: 0 },
      { seconds: -5 },
      { seconds: 9e12 },
      { seconds: 1, nanos: -1 },
    ]) {
      const before = Date.now();
      const { receivedAt } = decode(time ? { time } : {});
      assert.ok(receivedAt >= before && receivedAt <= Date.now());
    }
  });

  it("knows addresses that are no IP address", () => {
    for (const address of [
      { pipe: { path: "/s" } },
      { envoy_internal_address: { server_listener_name: "l" } },
    ]) {
      assert.deepEqual(decode({ source: { address } }).source, { address: "", port: 0 });
    }
  });
});
