import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { Agent, request } from "node:https";
import { load } from "js-yaml";
import { eventually } from "../../support/eventually.ts";
import { startGateway, type RunningGateway } from "../../support/gateway.ts";
import { isInstalled } from "../../support/programs.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import { connectSocket } from "../../support/socket-client.ts";
import { deployText } from "../support/deploy-file.ts";
import { startFrontApplication, type FrontApplication } from "../support/front-application.ts";
import { ask, askHttp2, askRaw, CLIENT, type FrontAnswer } from "../support/front-client.ts";
import { startRelay, type Relay } from "../support/relay.ts";
import { startFrontProxy, type FrontProgram, type FrontProxy } from "../support/run-proxy.ts";
import { FORWARDING_NAMES } from "../../../src/decision/headers/forwarding-headers.ts";

const POLICIES = `
policies:
  - { resource: "* /open/**", condition: "true" }
  - { resource: "* /slow/**", condition: "true" }
  - { resource: "* /endless/**", condition: "true" }
  - { resource: "* /mine/**", condition: user.id == "ada" and request.client_ip == "${CLIENT}" }
  - { resource: "* /secure/**", condition: request.scheme == "https" and request.host == "app.example.com" }
  - { resource: "* /goods/**", condition: request.host == "shop.example.com" }
websocket_policies:
  - connection: { path: /chat, condition: user.id == "ada" and request.client_ip == "${CLIENT}" }
    message_types:
      - { type: hello, condition: true }
`;
const UPLOAD = 100_000_000;

describe("deploy: a proxy in front of the gateway", function () {
  this.timeout(180_000);
  const programs = (["nginx", "haproxy", "caddy"] as const).filter((program) =>
    isInstalled(program, "deploy: in front of the gateway"),
  );
  let applications: readonly [FrontApplication, FrontApplication];
  let issuer: TestIssuer;
  let gateway: RunningGateway;
  let authorization: string;
  const upload = randomBytes(UPLOAD);
  const sha256 = createHash("sha256").update(upload).digest("hex");

  before(async () => {
    applications = [await startFrontApplication("app"), await startFrontApplication("shop")];
    issuer = await startIssuer();
    const [{ url: backend }, { url: other }] = applications;
    const written = load(
      deployText("front-proxy.yaml")
        .replaceAll("http://127.0.0.1:3000", backend)
        .replaceAll("http://127.0.0.1:3001", other),
    ) as { readonly gateway: Readonly<Record<string, unknown>> };
    gateway = await startGateway({
      ...{ backend, issuer, policies: { "default.yaml": POLICIES } },
      config: { gateway: { ...written.gateway, listen_port: 0, cluster: { nodes: 1 } } },
    });
    authorization = `Bearer ${await issuer.token({ sub: "ada" })}`;
  });
  after(async () => {
    await gateway.stop();
    await issuer.close();
    await Promise.all(applications.map((application) => application.close()));
  });

  for (const program of programs) describeFront(program);

  function describeFront(program: FrontProgram): void {
    describe(program, () => {
      let relay: Relay;
      let proxy: FrontProxy;

      before(async () => {
        relay = await startRelay();
        relay.target = gateway.port;
        const [{ port: first }, { port: second }] = applications;
        proxy = await startFrontProxy(program, { gateway: relay.port, applications: [first, second] });
      });
      after(async () => {
        await proxy.stop();
        relay.close();
      });
      beforeEach(() => {
        relay.forget();
      });

      for (const [protocol, send] of [
        ["HTTP/1.1", ask],
        ["HTTP/2", askHttp2],
      ] as const) {
        it(`${protocol}: tells the gateway caller, address, scheme and host`, async () => {
          const { status, seen } = await send(proxy.port, "/mine/x", { headers: { authorization } });
          assert.deepEqual(
            [status, seen?.name, seen?.headers["x-user-id"], seen?.headers["x-forwarded-for"]],
            [200, "app", "ada", CLIENT],
          );
          assert.equal((await send(proxy.port, "/mine/x")).status, 401);
          assert.equal((await send(proxy.port, "/secure/x")).status, 200);
        });

        it(`${protocol}: the host chooses the application`, async () => {
          const { seen } = await send(proxy.port, "/open/x", { host: "shop.example.com" });
          assert.equal(seen?.name, "shop");
          // what is decided is the host that was asked for
          assert.equal((await send(proxy.port, "/secure/x", { host: "shop.example.com" })).status, 403);
        });

        it(`${protocol}: an upload of 100 MB arrives`, async () => {
          const { status, seen } = await send(proxy.port, "/open/upload", { body: upload });
          assert.deepEqual([status, seen?.bytes, seen?.sha256], [200, UPLOAD, sha256]);
        });
      }

      it("the application is that of the host that rules see, however it is spelled", async () => {
        const served = [];
        for (const [name, path] of [
          ["shop", "/goods/x"],
          ["app", "/secure/x"],
        ] as const)
          for (const spelled of [
            ...[`${name}.example.com`, `${name}.example.com.`, `${name.toUpperCase()}.Example.com`],
            ...[`${name}.example.com:443`, `${name}.example.com.:8443`],
          ]) {
            const { status, seen } = await ask(proxy.port, path, { headers: { host: spelled } });
            // refused, or by Caddy, which does not know the host, answered with nothing
            if (seen !== undefined) assert.equal(seen.name, name, `${spelled} ${status}`);
            served.push(...(seen === undefined ? [] : [spelled]));
          }
        for (const name of ["shop", "app"]) assert.ok(served.includes(`${name}.example.com`));
      });

      it("the application gets no client's word about how the request was forwarded", async () => {
        const parts = "method path port prefix protocol scheme server ssl uri".split(" ");
        const headers = Object.fromEntries(parts.map((part) => [`x-forwarded-${part}`, "evil"]));
        const { status, seen } = await ask(proxy.port, "/open/x", { headers });
        assert.equal(status, 200);
        const forwarded = Object.keys(seen?.headers ?? {}).filter((name) => name.startsWith("x-forwarded-"));
        assert.deepEqual(forwarded.sort(), ["x-forwarded-for", "x-forwarded-host", "x-forwarded-proto"]);
      });

      it("the application gets no client's word about its address or host in the headers of products", async () => {
        const names = FORWARDING_NAMES.filter((name) => name !== "forwarded" && name !== "x-real-ip");
        const headers = Object.fromEntries(names.map((name) => [name, "10.6.6.6"]));
        const { status, seen } = await ask(proxy.port, "/open/x", { headers });
        assert.equal(status, 200);
        assert.deepEqual(
          Object.entries(seen?.headers ?? {}).filter(([, value]) => String(value).includes("10.6.6.6")),
          [],
        );
      });

      it("forwards an upload of unknown length", async () => {
        const { status, seen } = await ask(proxy.port, "/open/chunked", { body: upload, isChunked: true });
        assert.deepEqual([status, seen?.bytes, seen?.sha256], [200, UPLOAD, sha256]);
      });

      it("refuses one byte more", async () => {
        const headers = [`Content-Length: ${UPLOAD + 1}`];
        assert.equal((await askRaw(proxy.port, "POST /open/larger", headers)).status, 413);
        assert.ok(!applications[0].begun.includes("/open/larger"));
      });

      it("WebSocket: messages pass in both directions, and rules apply to them", async () => {
        const options = {
          ...{ rejectUnauthorized: false, localAddress: CLIENT, servername: "app.example.com" },
          headers: { host: "app.example.com" },
        };
        const url = `wss://127.0.0.1:${proxy.port}/chat`;
        const stranger = await connectSocket(url, options);
        assert.equal(stranger.refusal(), 401);
        const client = await connectSocket(url, {
          ...options,
          headers: { ...options.headers, authorization },
        });
        client.socket.send(JSON.stringify({ type: "forbidden" }));
        client.socket.send(JSON.stringify({ type: "hello" }));
        const answer = await client.message("the answer", (text) => text.includes('"ada"'));
        assert.deepEqual(JSON.parse(answer), { type: "hello", user: "ada", from: CLIENT });
        assert.ok(!client.messages.some((text) => text.includes('"forbidden","user"')));
        client.close();
      });

      it("keeps connections of clients, and its own to the gateway", async () => {
        const agent = new Agent({ keepAlive: true, maxSockets: 1 });
        const first = await ask(proxy.port, "/open/1", { agent });
        const { length } = relay.heads();
        const connections = relay.connections();
        const MORE = 20;
        for (let n = 0; n < MORE; n += 1) {
          const next = await ask(proxy.port, `/open/${n + 2}`, { agent });
          assert.deepEqual([next.status, next.from], [200, first.from]);
        }
        agent.destroy();
        assert.equal(length, 1);
        assert.equal(relay.heads().length, 1 + MORE);
        // a proxy may close one that it does not need at any time, but not after each request
        const opened = relay.connections() - connections;
        assert.ok(opened <= 2, `${opened} for ${MORE} requests`);
      });

      it("a client that goes away ends its request at the application", async () => {
        const [application] = applications;
        for (const path of [`/slow/${program}`, `/endless/${program}`]) {
          const call = request({
            ...{ host: "127.0.0.1", port: proxy.port, path, localAddress: CLIENT, agent: false },
            ...{ servername: "app.example.com", rejectUnauthorized: false },
            headers: { host: "app.example.com" },
          });
          call.on("error", () => undefined);
          call.end();
          await eventually("the request begins", () => application.begun.includes(path));
          assert.ok(!application.aborted.includes(path));
          call.destroy();
          await eventually("the request ends", () => application.aborted.includes(path));
        }
        assert.equal((await ask(proxy.port, "/open/after")).status, 200);
      });

      describe("what a client sends under the names of the proxy", () => {
        const NAMES = ["X-Backend-URL", "X-User-Token", "X-Real-IP"] as const;
        const shop = () => applications[1].url;
        const forged = async () => ({
          "X-Backend-URL": shop(),
          "X-User-Token": await issuer.token({ sub: "eve" }),
          "X-Real-IP": "127.0.0.1",
        });
        /** Exactly one of each at the gateway, and it is the proxy's. */
        const assertOurs = (hasToken: boolean) => {
          const heads = relay.heads();
          assert.equal(heads.length, 1);
          const fields = (heads[0] ?? "")
            .split("\r\n")
            .slice(1)
            .map((line) => line.split(/: ?(.*)/s));
          const valuesOf = (name: string) =>
            fields
              .filter(([field = ""]) => field.replaceAll(/[^A-Za-z]/g, "").toLowerCase() === name)
              .map(([, value]) => value);
          assert.deepEqual(valuesOf("xbackendurl"), [applications[0].url]);
          assert.deepEqual(valuesOf("xrealip"), [CLIENT]);
          // Caddy sends an empty one, which names nobody
          assert.deepEqual(valuesOf("xusertoken").filter(Boolean), hasToken ? [authorization] : []);
          // what Connection lists, the gateway would remove
          for (const value of valuesOf("connection"))
            assert.match(value ?? "", /^(keep-alive|close|upgrade)?$/i);
        };
        const assertUnmoved = ({ status, seen }: FrontAnswer, hasToken: boolean) => {
          assertOurs(hasToken);
          assert.equal(status, 200);
          const { "x-user-id": user, "x-forwarded-for": from } = seen?.headers ?? {};
          assert.deepEqual([seen?.name, user, from], ["app", hasToken ? "ada" : undefined, CLIENT]);
        };
        const ways: readonly (readonly [string, (name: string, value: string) => readonly string[]])[] = [
          ["once", (name, value) => [`${name}: ${value}`]],
          ["repeated", (name, value) => [`${name}: ${value}`, `${name}: ${value}`]],
          [
            "in other letters",
            (name, value) => [`${name.toLowerCase()}: ${value}`, `${name.toUpperCase()}: ${value}`],
          ],
          ["empty", (name) => [`${name}:`]],
        ];
        for (const [title, linesOf] of ways)
          for (const hasToken of [true, false])
            it(`${title}, ${hasToken ? "with" : "without"} a token, never arrives`, async () => {
              const lines = Object.entries(await forged()).flatMap(([name, value]) => linesOf(name, value));
              const own = hasToken ? [`Authorization: ${authorization}`] : [];
              assertUnmoved(await askRaw(proxy.port, "GET /open/x", [...lines, ...own]), hasToken);
            });

        it("over HTTP/2 never arrives", async () => {
          const headers = Object.fromEntries(
            Object.entries(await forged()).map(([name, value]) => [name.toLowerCase(), value]),
          );
          assertUnmoved(await askHttp2(proxy.port, "/open/x", { headers }), false);
          relay.forget();
          assertUnmoved(
            await askHttp2(proxy.port, "/open/x", { headers: { ...headers, authorization } }),
            true,
          );
        });

        for (const separator of ["_", "."])
          it(`with \`${separator}\` for \`-\` never arrives as one`, async () => {
            for (const [name, value] of Object.entries(await forged())) {
              relay.forget();
              const line = `${name.replaceAll("-", separator)}: ${value}`;
              const answer = await askRaw(proxy.port, "GET /open/x", [line]);
              // refused, or as if it had not been sent
              if (answer.status === 400) continue;
              assert.equal(answer.status, 200, line);
              const { "x-user-id": user, "x-forwarded-for": from } = answer.seen?.headers ?? {};
              assert.deepEqual([answer.seen?.name, user, from], ["app", undefined, CLIENT], line);
              const { headers = {} } = answer.seen ?? {};
              assert.ok(!Object.hasOwn(headers, name.toLowerCase().replaceAll("-", separator)), line);
            }
          });

        it("cannot be removed by naming it in Connection", async () => {
          for (const list of [
            NAMES.join(", "),
            `close, ${NAMES.join(",")}`,
            "Authorization",
            "Host, X-Forwarded-For",
          ]) {
            relay.forget();
            const lines = [`Connection: ${list}`, `Authorization: ${authorization}`];
            assertUnmoved(await askRaw(proxy.port, "GET /mine/x", lines), true);
          }
        });

        it("cannot be removed in the Connection list of a WebSocket handshake", async () => {
          const list = `Upgrade, ${NAMES.join(", ")}`;
          const answer = await askRaw(proxy.port, "GET /chat", [
            `Connection: ${list}`,
            "Upgrade: websocket",
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            `Authorization: ${authorization}`,
          ]);
          assertOurs(true);
          assert.ok([101, 400].includes(answer.status), String(answer.status));
        });

        it("a repeated Authorization names nobody", async () => {
          const eve = `Bearer ${await issuer.token({ sub: "eve" })}`;
          for (const [first, second] of [
            [authorization, eve],
            [eve, authorization],
          ]) {
            const lines = [`Authorization: ${first}`, `Authorization: ${second}`];
            const { status } = await askRaw(proxy.port, "GET /open/x", lines);
            assert.ok([400, 401].includes(status), String(status));
          }
        });

        it("an absolute target names the host for everything", async () => {
          const { status, seen } = await askRaw(proxy.port, "GET https://shop.example.com/secure/x", [
            "Host: app.example.com",
          ]);
          assert.notEqual(status, 200, JSON.stringify(seen));
        });
      });
    });
  }
});
