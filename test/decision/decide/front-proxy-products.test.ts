import assert from "node:assert/strict";
import { createFrontProxyReader, type FrontProxyOptions } from "../../../src/decision/decide/front-proxy.ts";
import { accessOf } from "../support.ts";

type Headers = readonly (readonly [string, string])[];

describe("decision: headers by which products say where a request is from", () => {
  const read = (peer: string, headers: Headers, options: Partial<FrontProxyOptions> = {}) =>
    createFrontProxyReader({ trustedProxies: ["10.0.0.0/8"], backends: [], ...options })({
      raw: accessOf({ headers }).raw,
      peer,
    });

  it("are not believed from others, whatever product's header says it", () => {
    const names =
      "incap-client-ip x-sucuri-clientip ali-cdn-real-ip cdn-src-ip x-appengine-remote-addr remote-addr";
    const schemes = "x-appengine-https fastly-ssl x-ssl x-https x-forward-for";
    const headers = `${names} ${schemes}`.split(" ").map((name) => [name, "1"] as const);
    const removed = read("192.0.2.1", headers).raw.headers.filter(([name]) => name !== "x-forwarded-for");
    assert.deepEqual(removed, []);
  });

  it("are not believed from a trusted proxy, which passes them on from the client", () => {
    const names =
      "true-client-ip x-client-ip cf-connecting-ip cf-visitor fastly-client-ip x-original-host x-host x-scheme";
    const products = names.split(" ").map((name) => [name, "admin"] as const);
    const kept: Headers = [
      ["x-forwarded-port", "443"],
      ["x-forwarded-prefix", "/shop"],
      ["accept", "*/*"],
    ];
    const { raw, changes } = read("10.0.0.1", [...products, ...kept, ["x-forwarded-for", "192.0.2.7"]]);
    assert.deepEqual(raw.headers, [...kept, ["x-forwarded-for", "192.0.2.7"]]);
    assert.deepEqual(changes, { set: [], remove: names.split(" ") });
    // the product is in front
    const clientHeaders = ["cf-connecting-ip"];
    const listed = read("10.0.0.1", products, { clientHeaders }).raw.headers;
    assert.deepEqual(
      listed.filter(([name]) => name !== "x-forwarded-for"),
      [["cf-connecting-ip", "admin"]],
    );
  });
});
