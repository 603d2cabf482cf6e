import assert from "node:assert/strict";
import { Agent, request } from "node:http";
import fc from "fast-check";
import type { SegmentIR } from "../../src/policy/ir.ts";
import { pathExpression } from "../../src/gateway/body-paths.ts";
import { routeConfiguration, writeRoutes } from "../../src/gateway/index.ts";
import { send, until } from "./support/client.ts";
import { configWith, startGateway } from "./support/gateway.ts";
import type { TestGateway } from "./support/gateway.ts";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const literal = (value: string): SegmentIR => ({ kind: "literal", value });
const orders = { method: "POST", segments: [literal("orders"), { kind: "param", name: "id" }] } as const;
const notes = { method: "PUT", segments: [literal("nötes +(x)"), { kind: "rest" }] } as const;

describe("gateway routes for bodies", () => {
  let gateway: TestGateway;

  before(async () => {
    gateway = await startGateway({
      bodyRoutes: [orders, notes, orders],
      overrides: { "gateway.security.request_size_limit": "2MB" },
    });
  });
  after(() => gateway.stop());
  beforeEach(() => {
    gateway.upstream.seen.length = 0;
    gateway.authz.checks.length = 0;
  });

  const bodySeen = () => gateway.authz.checks[0]?.attributes.request.http.rawBody.toString("latin1");

  const handedOver: readonly (readonly [string, string])[] = [
    ["POST", "/orders/1"],
    ["POST", "/orders/1/"],
    ["POST", "/orders/1?a=/b"],
    ["POST", "/%6frders/%31"],
    ["POST", "/%6Frders/%31"],
    ["PUT", "/n%C3%B6tes%20+(x)"],
    ["PUT", "/n%c3%b6tes%20%2b%28x%29/a/b"],
  ];
  for (const [method, path] of handedOver) {
    it(`hand over the body of ${method} ${path}`, async () => {
      for (const chunked of [false, true]) {
        gateway.authz.checks.length = 0;
        gateway.upstream.seen.length = 0;
        const body = Buffer.from('{"a":"\xff\0"}', "latin1");
        assert.equal((await send(gateway.port, path, { method, body, chunked })).status, 200);
        assert.equal(bodySeen(), body.toString("latin1"));
        assert.equal(gateway.upstream.seen[0]?.bytes, body.length);
      }
    });
  }

  for (const [method, path] of [
    ["PUT", "/orders/1"],
    ["POST", "/orders"],
    ["POST", "/orders/1/2"],
    ["POST", "/Orders/1"],
    ["PUT", "/nötesX"],
  ] as const) {
    it(`do not hand over the body of ${method} ${path}`, async () => {
      assert.equal((await send(gateway.port, encodeURI(path), { method, body: "secret" })).status, 200);
      assert.equal(bodySeen(), "");
      assert.equal(gateway.upstream.seen[0]?.bytes, 6);
    });
  }

  it("answer 413 to a body that is more than the service takes, and forward nothing", async () => {
    for (const chunked of [false, true]) {
      const body = "x".repeat(1_100_000);
      const answer = await send(gateway.port, "/orders/1", { method: "POST", body, chunked });
      assert.equal(answer.status, 413);
      assert.match(answer.body, /"code":"REQUEST_TOO_LARGE"/);
      assert.equal((await send(gateway.port, "/else", { method: "POST", body, chunked })).status, 200);
    }
    assert.equal(gateway.upstream.seen.length, 2);
    assert.equal(gateway.authz.checks.length, 2);
  });

  it("are taken over while requests are under way, without a lost connection", async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const sockets = new Set<unknown>();
    const post = (path: string) =>
      new Promise<number>((resolve, reject) => {
        const headers = { "content-length": 4 };
        const call = request(
          { host: "127.0.0.1", port: gateway.port, path, method: "POST", headers, agent },
          (response) => {
            sockets.add(response.socket);
            response.resume().on("end", () => {
              resolve(response.statusCode ?? 0);
            });
          },
        );
        call.on("error", reject);
        call.end("body");
      });
    const bodyReachesService = async (path: string) => {
      gateway.authz.checks.length = 0;
      assert.equal(await post(path), 200);
      return bodySeen() === "body";
    };
    try {
      assert.equal(await bodyReachesService("/orders/1"), true);
      assert.equal(await bodyReachesService("/new"), false);
      let release = () => undefined as unknown;
      gateway.upstream.answer = (_, response) => {
        response.write("half ");
        release = () => response.end("whole");
      };
      const slow = send(gateway.port, "/slow");
      await until(
        () => gateway.upstream.seen.some(({ url }) => url === "/slow"),
        "the slow request is under way",
      );
      gateway.upstream.answer = (_, response) => response.end("hello");
      writeRoutes(gateway.routesFile, gateway.config, {
        bodies: [{ method: "*", segments: [literal("new")] }],
        responses: false,
      });
      await until(() => bodyReachesService("/new"), "the new routes are in force");
      assert.equal(await bodyReachesService("/orders/1"), false);
      assert.equal(sockets.size, 1, "one connection served all requests");
      release();
      assert.equal((await slow).body, "half whole");
    } finally {
      agent.destroy();
      writeRoutes(gateway.routesFile, gateway.config, { bodies: [orders, notes], responses: false });
    }
  });

  it("stay in force when Envoy refuses new ones", async () => {
    const { writeFileSync, renameSync } = await import("node:fs");
    writeFileSync(`${gateway.routesFile}.new`, "{ nonsense");
    renameSync(`${gateway.routesFile}.new`, gateway.routesFile);
    await until(
      () => gateway.warnings.some((line) => /routes\.json|Unable|parse/i.test(line)),
      "Envoy says so",
    );
    assert.equal((await send(gateway.port, "/else")).status, 200);
    writeRoutes(gateway.routesFile, gateway.config, { bodies: [orders, notes], responses: false });
  });
});

describe("gateway route files", () => {
  it("are replaced as a whole, and a failed attempt leaves nothing behind", () => {
    const folder = mkdtempSync(join(tmpdir(), "gatehouse-"));
    try {
      const config = configWith({ "gateway.backend": "http://127.0.0.1:1" });
      writeRoutes(join(folder, "routes.json"), config, { bodies: [], responses: false });
      assert.deepEqual(readdirSync(folder), ["routes.json"]);
      assert.throws(() => {
        writeRoutes(join(folder, "missing", "routes.json"), config, { bodies: [], responses: false });
      }, /ENOENT/);
      assert.throws(() => {
        writeRoutes(folder, config, { bodies: [], responses: false });
      });
      assert.deepEqual(readdirSync(folder), ["routes.json"]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("give GET's rules HEAD too, and every method to `*`", () => {
    const config = configWith({ "gateway.backend": "http://127.0.0.1:1" });
    const text = JSON.stringify(
      routeConfiguration(config, { bodies: [{ method: "GET", segments: [] }], responses: false }),
    );
    assert.match(text, /\{"name":":method","string_match":\{"safe_regex":\{"regex":"GET\|HEAD"\}\}\}/);
    const every = routeConfiguration(config, { bodies: [{ method: "*", segments: [] }], responses: false });
    // that of handshakes stays
    assert.deepEqual(JSON.stringify(every).match(/":method","string_match":\{[^}]*\}/g), [
      '":method","string_match":{"exact":"GET"}',
    ]);
  });
});

describe("path expressions", () => {
  it("match every spelling of a literal path", () => {
    const segment = fc.string({ unit: "binary", minLength: 1 }).filter((text) => text.isWellFormed());
    const spelling = fc.array(fc.constantFrom("plain", "lower", "upper"), { minLength: 1 });
    fc.assert(
      fc.property(fc.array(segment, { minLength: 1, maxLength: 3 }), spelling, (values, spellings) => {
        let n = 0;
        const spell = (byte: number) => {
          const how = spellings[n++ % spellings.length];
          const hex = byte.toString(16).padStart(2, "0");
          const plain = String.fromCharCode(byte);
          if (how === "plain" && /[A-Za-z0-9._~!$&'()*+,=:@-]/.test(plain)) return plain;
          return `%${how === "upper" ? hex.toUpperCase() : hex}`;
        };
        const path = values.map((value) => `/${[...Buffer.from(value)].map(spell).join("")}`).join("");
        const expression = new RegExp(`^(?:${pathExpression(values.map(literal))})$`);
        assert.match(path, expression);
        assert.doesNotMatch(`${path}x`, expression);
      }),
    );
  });

  it("switch off the filters that a set has no use for, and tell the service which are on", () => {
    interface Route {
      readonly match: { readonly headers?: readonly { readonly name: string }[] };
      readonly typed_per_filter_config: Readonly<Record<string, unknown>>;
    }
    const describeRoutes = (responses: boolean) => {
      const config = configWith({ "gateway.backend": "http://127.0.0.1:1" });
      const { virtual_hosts: hosts } = routeConfiguration(config, { bodies: [], responses }) as {
        virtual_hosts: readonly [{ readonly routes: readonly Route[] }];
      };
      return hosts[0].routes.map(({ match, typed_per_filter_config: filters }) => [
        match.headers?.some(({ name }) => name === "upgrade") === true,
        JSON.stringify(filters).includes('"gatehouse_plans":"1"'),
        Object.keys(filters).filter((name) => name.startsWith("gatehouse.lua.")).length,
      ]);
    };
    // for tunnels, handshakes, bodies of known length, and others: is it for handshakes, are plans carried out, filters off
    const all = [
      [false, false, 4],
      [true, true, 1],
    ];
    assert.deepEqual(describeRoutes(false), [...all, [false, false, 4], [false, false, 4]]);
    assert.deepEqual(describeRoutes(true), [...all, [false, true, 2], [false, true, 2]]);
  });
});
