import assert from "node:assert/strict";
import * as z from "zod";
import { ok, readRoute } from "../../../../src/control/platform/frame/route.ts";
import { startControl, type RunningControl } from "../../../support/control.ts";
import { sendRaw } from "../../../support/raw-http.ts";

describe("a request to the API that a proxy in front may read in another way", () => {
  let api: RunningControl;
  before(async () => {
    const things = readRoute({
      method: "get",
      path: "/things",
      operation: "listThings",
      summary: "List things",
      tag: "things",
      group: "management",
      permission: "public",
      tenancy: "all",
      answers: { 200: z.array(z.string()) },
      read: () => Promise.resolve(ok([])),
    });
    api = await startControl({ routes: () => [things] });
  });
  after(() => api.close());

  const statusOf = async (path: string) => (await fetch(`${api.url}${path}`)).status;

  it("is not answered if it has several Host headers", async () => {
    const { port } = new URL(api.url);
    for (const hosts of ["Host: a\r\nHost: b", "Host: a\r\nhOST: a"])
      for (const path of ["/v1/openapi.json", "/healthz", "/nothing"]) {
        const { status, body } = await sendRaw(Number(port), `GET ${path} HTTP/1.1\r\n${hosts}\r\n\r\n`);
        assert.deepEqual([status, body.includes("MALFORMED_REQUEST")], [400, true], `${path} ${hosts}`);
      }
  });

  it("is not answered if it has several types", async () => {
    const { port } = new URL(api.url);
    const [json, text] = ["Content-Type: application/json", "content-type: text/plain"];
    for (const types of [`${json}\r\n${text}`, `${text}\r\n${json}`, `${json}\r\n${json}`]) {
      const request = `POST /v1/nothing HTTP/1.1\r\nHost: a\r\n${types}\r\nContent-Length: 2\r\n\r\n{}`;
      const { status, body } = await sendRaw(Number(port), request);
      assert.deepEqual([status, body.includes("more than one Content-Type")], [400, true], types);
    }
  });

  it("is not answered if its body has a transfer coding other than chunked", async () => {
    const { port } = new URL(api.url);
    const send = (coding: string, path = "/v1/things") =>
      sendRaw(
        Number(port),
        `GET ${path} HTTP/1.1\r\nHost: a\r\n${coding}\r\nConnection: close\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
      );
    for (const coding of ["chunked", "Chunked"])
      assert.equal((await send(`Transfer-Encoding: ${coding}`, "/v1/openapi.json")).status, 200, coding);
    for (const coding of [
      "Transfer-Encoding: gzip, chunked",
      "Transfer-Encoding: identity, chunked",
      "Transfer-Encoding: chunked, chunked",
      "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked",
    ])
      for (const path of ["/v1/things", "/healthz", "/nothing"]) {
        const { status, headers } = await send(coding, path);
        assert.deepEqual([status, headers["connection"]], [400, "close"], `${coding} ${path}`);
      }
    const named = await send("Transfer-Encoding: gzip, chunked");
    assert.match(named.body, /MALFORMED_REQUEST/);
  });

  it("finds a path in one spelling alone, for a proxy may treat some paths specially", async () => {
    for (const path of ["/v1/things", "/v1/openapi.json", "/docs"])
      assert.equal(await statusOf(path), 200, path);
    for (const path of [
      "/V1/things",
      "/v1/Things",
      "/%761/things",
      "//v1/things",
      "/V1/openapi.json",
      "/Docs",
    ])
      assert.equal(await statusOf(path), 404, path);
  });

  it("gets an answer that permits nothing to a browser that shows it", async () => {
    for (const path of ["/v1/things", "/v1/nothing", "/nothing"])
      assert.equal(
        (await fetch(`${api.url}${path}`)).headers.get("content-security-policy"),
        "default-src 'none';base-uri 'none';form-action 'none';frame-ancestors 'none'",
      );
  });
});
