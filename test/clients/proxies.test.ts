import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { sendRaw } from "../gateway/support/client.ts";
import { eventually } from "../support/eventually.ts";
import { startGateway, type RunningGateway } from "../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../support/providers/issuer.ts";
import { application, ask, CLIENT } from "./support/behind-proxies.ts";
import {
  isInstalled,
  PROXY_ADDRESS,
  PUBLIC_HOST,
  startHaproxy,
  startNginx,
  type RunningProxy,
} from "./support/front-proxies.ts";

const POLICIES = `
policies:
  - { resource: "* /open/**", condition: "true" }
  - { resource: "GET /office/**", condition: request.client_ip == "${CLIENT}" }
  - { resource: "GET /loopback/**", condition: request.client_ip == "127.0.0.1" }
  - { resource: "GET /public/**", condition: request.scheme == "https" and request.host == "${PUBLIC_HOST}" }
  - { resource: "GET /admin/**", condition: request.host == "admin.example.com" }
`;

describe("clients: proxies in front of the gateway", function () {
  this.timeout(240_000);
  const has = { nginx: isInstalled("nginx"), haproxy: isInstalled("haproxy") };
  const server = createServer(application());
  let issuer: TestIssuer;
  let gateways: Record<"off" | "http" | "tcp", RunningGateway>;
  let nginx: RunningProxy | undefined;
  let haproxy: RunningProxy | undefined;

  before(async () => {
    await once(server.listen(0, "127.0.0.1"), "listening");
    issuer = await startIssuer();
    const gateway = (proxyProtocol: "off" | "http" | "tcp") =>
      startGateway({
        backend: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
        issuer,
        policies: { "default.yaml": POLICIES },
        config: {
          gateway: {
            listen_port: 0,
            backend: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
            cluster: { nodes: 1 },
            trusted_proxies: [PROXY_ADDRESS],
            proxy_protocol: proxyProtocol,
          },
        },
      });
    gateways = { off: await gateway("off"), http: await gateway("http"), tcp: await gateway("tcp") };
    const { off, http, tcp } = gateways;
    if (has.nginx) nginx = await startNginx(off.port);
    if (has.haproxy) haproxy = await startHaproxy({ off: off.port, http: http.port, tcp: tcp.port });
  });
  after(async () => {
    await nginx?.stop();
    await haproxy?.stop();
    await Promise.all(Object.values(gateways).map((gateway) => gateway.stop()));
    await issuer.close();
    server.close();
  });

  const addressesOf = async (gateway: RunningGateway, path: string) =>
    eventually(`a record of ${path}`, async () => {
      const found = (await gateway.audit()).filter(({ resource }) => resource === path);
      return found.length > 0 && found.map(({ client_ip }) => client_ip);
    });

  const TLS: readonly (readonly [
    name: string,
    program: keyof typeof has,
    port: () => number | undefined,
    gateway: () => RunningGateway,
  ])[] = [
    ["nginx over HTTP/1.0", "nginx", () => nginx?.ports["tls"], () => gateways.off],
    ["nginx over HTTP/1.1", "nginx", () => nginx?.ports["tls11"], () => gateways.off],
    ["HAProxy", "haproxy", () => haproxy?.ports["tls"], () => gateways.off],
    ["HAProxy with the PROXY protocol", "haproxy", () => haproxy?.ports["v2"], () => gateways.http],
  ];
  for (const [name, program, portOf, gatewayOf] of TLS) {
    describe(`${name}, which terminates TLS`, () => {
      let port: number;
      const path = (rest: string) => `${rest}/${name.replaceAll(/\W/g, "")}`;

      before(function () {
        if (!has[program]) this.skip();
        port = portOf() ?? 0;
      });

      it("reaches an application that answers only by https, without a loop", async () => {
        const { status, seen } = await ask(port, path("/open"), true);
        assert.deepEqual([status, seen?.protocol, seen?.host, seen?.ip], [200, "https", PUBLIC_HOST, CLIENT]);
      });

      it("tells rules and records the client's address, scheme and host", async () => {
        assert.equal((await ask(port, path("/office"), true)).status, 200);
        assert.equal((await ask(port, path("/public"), true)).status, 200);
        assert.equal((await ask(port, path("/loopback"), true)).status, 403);
        for (const kind of ["/office", "/public", "/loopback"])
          assert.deepEqual(await addressesOf(gatewayOf(), path(kind)), [CLIENT]);
      });

      it("does not let the client choose any of them", async () => {
        const headers = {
          "X-Forwarded-For": "127.0.0.1",
          "X-Forwarded-Proto": "http",
          "X-Forwarded-Host": "admin.example.com",
          Forwarded: "for=127.0.0.1;proto=http;host=admin.example.com",
          "X-Real-IP": "127.0.0.1",
          "X-Forwarded-User": "root",
        };
        for (const kind of ["/loopback", "/admin"])
          assert.equal((await ask(port, path(kind), true, { headers })).status, 403, kind);
        const { status, seen } = await ask(port, path("/public"), true, { headers });
        assert.deepEqual([status, seen?.ip, seen?.protocol, seen?.host], [200, CLIENT, "https", PUBLIC_HOST]);
        assert.deepEqual(
          ["forwarded", "x-forwarded-user"].filter((header) => seen?.headers[header] !== undefined),
          [],
        );
        assert.equal(seen?.headers["x-forwarded-for"], CLIENT);
        assert.notEqual(seen.headers["x-real-ip"], "127.0.0.1");
      });

      it("forwards bodies", async () => {
        const body = "a".repeat(100_000);
        const { status, seen } = await ask(port, path("/open"), true, { body });
        assert.deepEqual([status, seen?.body.length], [200, body.length]);
      });
    });
  }

  describe("nginx with nothing but proxy_pass", () => {
    before(function () {
      if (!has.nginx) this.skip();
    });

    it("speaks HTTP/1.0, and is answered", async () => {
      const { status, seen } = await ask(nginx?.ports["plain"] ?? 0, "/open/plain", false);
      assert.deepEqual([status, seen?.headers["x-forwarded-for"]], [200, PROXY_ADDRESS]);
    });

    it("lets the client's headers through: they choose neither host nor scheme that rules permit alone", async () => {
      // the application gets another Host, which the rules do not permit
      const headers = { "X-Forwarded-Host": PUBLIC_HOST, "X-Forwarded-Proto": "https" };
      const { status } = await ask(nginx?.ports["plain"] ?? 0, "/public/plain", false, { headers });
      assert.equal(status, 403);
    });

    it("lets a scheme through that is none: it counts as absent", async () => {
      for (const scheme of ["__proto__", "constructor"]) {
        const headers = { "X-Forwarded-Proto": scheme };
        const { status, seen } = await ask(nginx?.ports["plain"] ?? 0, "/open/plain", false, { headers });
        assert.deepEqual([status, seen?.headers["x-forwarded-proto"]], [200, "http"]);
      }
    });
  });

  describe("HAProxy that forwards bytes with the PROXY protocol", () => {
    let port: number;
    before(function () {
      if (!has.haproxy) this.skip();
      port = haproxy?.ports["tcp"] ?? 0;
    });

    it("says who the client is, and believes no header", async () => {
      const headers = {
        "X-Forwarded-For": "127.0.0.1",
        "X-Forwarded-Proto": "https",
        "X-Real-IP": "127.0.0.1",
      };
      const { status, seen } = await ask(port, "/office/tcp", false, { headers });
      // the application redirects: the scheme is the listener's
      assert.deepEqual([status, seen], [301, undefined]);
      assert.equal((await ask(port, "/loopback/tcp", false, { headers })).status, 403);
      assert.deepEqual(await addressesOf(gateways.tcp, "/office/tcp"), [CLIENT]);
      const plain = await ask(port, "/open/plain", false, { headers });
      assert.deepEqual([plain.seen?.ip, plain.seen?.protocol], [CLIENT, "http"]);
    });

    it("says so also in records of requests that Envoy refuses", async () => {
      assert.equal((await ask(port, "/open/refused#fragment", false)).status, 400);
      assert.deepEqual(await addressesOf(gateways.tcp, "/open/refused"), [CLIENT]);
    });
  });

  describe("without a proxy", () => {
    it("a PROXY header of somebody else closes the connection, and so does none", async () => {
      const text = "GET /open/plain HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
      for (const { port } of [gateways.http, gateways.tcp])
        for (const bytes of [text, `PROXY TCP4 127.0.0.9 127.0.0.1 1 2\r\n${text}`])
          assert.equal(await sendRaw(port, bytes).catch(() => ""), "");
      // where no PROXY header is expected, it is not HTTP
      assert.match(
        await sendRaw(gateways.off.port, `PROXY TCP4 1.1.1.1 1.1.1.1 1 2\r\n${text}`),
        /^HTTP\/1\.\d 400 /,
      );
    });

    it("a client's own headers say nothing", async () => {
      const headers = {
        "X-Forwarded-For": "127.0.0.1",
        "X-Forwarded-Proto": "https",
        "X-Real-IP": "127.0.0.1",
      };
      const { port } = gateways.off;
      assert.equal((await ask(port, "/loopback/direct", false, { headers })).status, 403);
      const { seen } = await ask(port, "/open/plain", false, { headers });
      assert.deepEqual([seen?.ip, seen?.protocol, seen?.headers["x-real-ip"]], [CLIENT, "http", undefined]);
    });

    it("ApacheBench's requests are answered, on one connection with -k", async () => {
      const request = (connection: string) =>
        `GET /open/plain HTTP/1.0\r\n${connection}Host: 127.0.0.1\r\nUser-Agent: ApacheBench/2.3\r\nAccept: */*\r\n\r\n`;
      const { port } = gateways.off;
      assert.match(await sendRaw(port, request("")), /^HTTP\/1\.0 200 OK\r\n(?!.*chunked)/is);
      const kept = await sendRaw(port, request("Connection: Keep-Alive\r\n").repeat(20) + request(""));
      assert.equal(kept.match(/HTTP\/1\.0 200 OK/g)?.length, 21);
    });
  });
});
