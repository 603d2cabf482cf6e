import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { eventually } from "../support/eventually.ts";
import { startGateway, type RunningGateway } from "../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../support/providers/issuer.ts";
import { application, ask, CLIENT } from "./support/behind-proxies.ts";
import {
  isInstalled,
  PROXY_ADDRESS,
  PUBLIC_HOST,
  startHaproxyHop,
  startNginxServers,
  USUAL_HEADERS,
  type RunningProxy,
} from "./support/front-proxies.ts";

/** The address from which the outer of two proxies connects to the inner one. */
const EDGE_ADDRESS = "127.0.0.3";

const POLICIES = `
policies:
  - { resource: "* /open/**", condition: "true" }
  - { resource: "GET /office/**", condition: request.client_ip == "${CLIENT}" }
  - { resource: "GET /loopback/**", condition: request.client_ip == "127.0.0.1" }
  - { resource: "GET /edge/**", condition: request.client_ip == "${EDGE_ADDRESS}" }
  - { resource: "GET /public/**", condition: request.scheme == "https" and request.host == "${PUBLIC_HOST}" }
  - { resource: "GET /admin/**", condition: request.host == "admin.example.com" }
`;

/** What a client says of itself, in the headers of proxies. */
const LIES = {
  "X-Forwarded-For": "127.0.0.1",
  "X-Forwarded-Proto": "http",
  "X-Forwarded-Host": "admin.example.com",
};
const LIE = "for=127.0.0.1;proto=http;host=admin.example.com";

describe("clients: the header Forwarded, and two proxies in a row", function () {
  this.timeout(240_000);
  const has = { nginx: isInstalled("nginx"), haproxy: isInstalled("haproxy") };
  const server = createServer(application());
  const proxies: RunningProxy[] = [];
  let issuer: TestIssuer;
  let gateways: Record<"forwarded" | "hops" | "addresses", RunningGateway>;

  before(async () => {
    await once(server.listen(0, "127.0.0.1"), "listening");
    issuer = await startIssuer();
    const backend = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    const gateway = (settings: Readonly<Record<string, unknown>>) =>
      startGateway({
        backend,
        issuer,
        policies: { "default.yaml": POLICIES },
        config: {
          gateway: {
            ...{ listen_port: 0, backend, cluster: { nodes: 1 }, trusted_proxies: [PROXY_ADDRESS] },
            ...settings,
          },
        },
      });
    gateways = {
      forwarded: await gateway({ forwarded_headers: ["forwarded"] }),
      hops: await gateway({ trusted_hops: 2 }),
      addresses: await gateway({}),
    };
  });
  after(async () => {
    for (const proxy of proxies.reverse()) await proxy.stop();
    await Promise.all(Object.values(gateways).map((gateway) => gateway.stop()));
    await issuer.close();
    server.close();
  });

  const recordedAt = async (gateway: RunningGateway, path: string) =>
    eventually(`a record of ${path}`, async () => {
      const found = (await gateway.audit()).filter(({ resource }) => resource === path);
      return found.length > 0 && found.map(({ client_ip }) => client_ip);
    });

  describe("`forwarded_headers: [forwarded]`", () => {
    let nginx: RunningProxy;
    before(async function () {
      if (!has.nginx) this.skip();
      const element = "for=$remote_addr;proto=$scheme;host=$host";
      const to = gateways.forwarded.port;
      // neither says anything in X-Forwarded-*, so what is there is the client's
      nginx = await startNginxServers({
        replacing: {
          ...{ tls: true, to },
          directives: `proxy_set_header Host $host; proxy_set_header Forwarded "${element}";`,
        },
        appending: {
          ...{ tls: true, to },
          directives: `proxy_set_header Host $host; proxy_set_header Forwarded "\${sent_forwarded}${element}";`,
        },
      });
      proxies.push(nginx);
    });

    for (const how of ["replacing", "appending"]) {
      const path = (rest: string) => `${rest}/${how}`;
      const port = () => nginx.ports[how] ?? 0;

      it(`is believed of a trusted proxy that sets it, ${how}, and nothing that the client writes is`, async () => {
        for (const headers of [{}, LIES, { ...LIES, Forwarded: LIE }]) {
          const { status, seen } = await ask(port(), path("/public"), true, { headers });
          assert.deepEqual(
            [status, seen?.ip, seen?.protocol, seen?.host],
            [200, CLIENT, "https", PUBLIC_HOST],
          );
          assert.equal(seen?.headers["forwarded"], `for=${CLIENT};host="${PUBLIC_HOST}";proto=https`);
          assert.deepEqual(
            [seen.headers["x-forwarded-for"], seen.headers["x-forwarded-proto"]],
            [CLIENT, "https"],
          );
          assert.equal((await ask(port(), path("/office"), true, { headers })).status, 200);
          for (const kind of ["/loopback", "/admin"])
            assert.equal((await ask(port(), path(kind), true, { headers })).status, 403, kind);
        }
        for (const kind of ["/public", "/office", "/loopback", "/admin"])
          assert.deepEqual([...new Set(await recordedAt(gateways.forwarded, path(kind)))], [CLIENT]);
      });
    }

    it("an open quote of the client does not take in what the proxy appends", async () => {
      const headers = { Forwarded: 'for=127.0.0.1;host="' };
      const port = nginx.ports["appending"] ?? 0;
      assert.equal((await ask(port, "/open/quote", true, { headers })).status, 400);
    });

    it("is not believed of anybody else", async () => {
      const headers = { Forwarded: `for=127.0.0.1;proto=https;host=${PUBLIC_HOST}` };
      const { port } = gateways.forwarded;
      for (const kind of ["/loopback", "/public"])
        assert.equal((await ask(port, `${kind}/direct`, false, { headers })).status, 403, kind);
      const { seen } = await ask(port, "/open/plain", false, { headers });
      assert.deepEqual([seen?.ip, seen?.protocol, seen?.headers["forwarded"]], [CLIENT, "http", undefined]);
      assert.deepEqual(await recordedAt(gateways.forwarded, "/loopback/direct"), [CLIENT]);
    });
  });

  const INNER: readonly (readonly [name: string, program: keyof typeof has])[] = [
    ["nginx", "nginx"],
    ["HAProxy", "haproxy"],
  ];
  for (const [name, program] of INNER) {
    describe(`nginx in front of ${name}`, () => {
      /** Ports of the outer proxies, by the gateway at the other end, and of the inner one of `hops`. */
      let ports: Record<"hops" | "addresses" | "inner", number>;
      const path = (rest: string) => `${rest}/${program}`;

      before(async function () {
        if (!has.nginx || !has[program]) this.skip();
        const appending =
          "proxy_set_header Host $host; proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;";
        const inner = async (to: number) => {
          const proxy =
            program === "haproxy"
              ? await startHaproxyHop(to)
              : await startNginxServers({ hop: { to, directives: appending } });
          proxies.push(proxy);
          return proxy.ports["hop"] ?? 0;
        };
        const hops = await inner(gateways.hops.port);
        const addresses = await inner(gateways.addresses.port);
        const outer = { tls: true, from: EDGE_ADDRESS, directives: USUAL_HEADERS };
        // an address that none of the proxies reports would be refused
        const silent = USUAL_HEADERS.replace("proxy_set_header X-Real-IP $remote_addr;", "");
        const edge = await startNginxServers({
          hops: { ...outer, to: hops },
          addresses: { ...outer, to: addresses, directives: silent },
        });
        proxies.push(edge);
        ports = { hops: edge.ports["hops"] ?? 0, addresses: edge.ports["addresses"] ?? 0, inner: hops };
      });

      it("`trusted_hops: 2` finds the client at the outer one, whatever the client writes", async () => {
        for (const headers of [{}, LIES, { ...LIES, "X-Forwarded-For": `127.0.0.1, ${PROXY_ADDRESS}` }]) {
          const { status, seen } = await ask(ports.hops, path("/public"), true, { headers });
          assert.deepEqual(
            [status, seen?.ip, seen?.protocol, seen?.host],
            [200, CLIENT, "https", PUBLIC_HOST],
          );
          assert.equal(seen?.headers["x-forwarded-for"], CLIENT);
          assert.equal((await ask(ports.hops, path("/office"), true, { headers })).status, 200);
          for (const kind of ["/loopback", "/edge", "/admin"])
            assert.equal((await ask(ports.hops, path(kind), true, { headers })).status, 403, kind);
        }
        for (const kind of ["/public", "/office", "/loopback", "/edge", "/admin"])
          assert.deepEqual([...new Set(await recordedAt(gateways.hops, path(kind)))], [CLIENT]);
      });

      it("a request that comes in at the inner one is refused", async () => {
        const { status } = await ask(ports.inner, path("/open/past"), false);
        assert.equal(status, 400);
      });

      it("without it, the outer one counts as the client, because its address is not trusted", async () => {
        assert.equal((await ask(ports.addresses, path("/office"), true)).status, 403);
        assert.equal((await ask(ports.addresses, path("/loopback"), true, { headers: LIES })).status, 403);
      });
    });
  }
});
