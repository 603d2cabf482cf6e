import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { Server } from "socket.io";
import { io, type Socket } from "socket.io-client";
import { startGateway, type RunningGateway } from "../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../support/providers/issuer.ts";
import {
  express4,
  expressShop,
  runPython,
  serve,
  startFastifyShop,
  startPython,
  type Application,
} from "./support/applications.ts";

/** A gateway in front of an application, for one suite. */
function useGateway(start: () => Promise<Application>, policies: string) {
  const world = {} as { issuer: TestIssuer; application: Application; gateway: RunningGateway };
  before(async () => {
    [world.issuer, world.application] = await Promise.all([startIssuer(), start()]);
    const { issuer, application } = world;
    world.gateway = await startGateway({
      backend: application.url,
      issuer,
      policies: { "default.yaml": policies },
    });
  });
  after(async () => {
    await world.gateway.stop();
    await Promise.all([world.issuer.close(), world.application.close()]);
  });
  return world;
}

describe("clients: web frameworks", function () {
  this.timeout(120_000);

  const SHOP = `
policies:
  - { resource: GET /public, condition: true }
  - { resource: "GET /orders/{id}", condition: path.id in user.groups }
  - { resource: POST /orders, condition: user.role == "buyer" and request.body.total < 100 }
  - { resource: POST /form, condition: true }
`;
  const requests: string[] = [];
  const shops: Readonly<Record<string, () => Promise<Application>>> = {
    "Express 4": () => serve(expressShop(express4, requests)),
    "Express 5": () => serve(expressShop(express, requests)),
    Fastify: () => startFastifyShop(requests),
  };
  for (const [name, start] of Object.entries(shops))
    describe(name, () => {
      const world = useGateway(start, SHOP);
      let headers: Record<string, string>;
      before(async () => {
        const token = await world.issuer.token({ sub: "u-1", role: "buyer", groups: ["7", "a b"] });
        headers = { authorization: `Bearer ${token}` };
      });
      beforeEach(() => {
        requests.length = 0;
      });
      const ask = (path: string, init: RequestInit = {}) =>
        fetch(world.gateway.url + path, { redirect: "manual", ...init });

      it("gets what is permitted as it was sent, with the caller's identity", async () => {
        const answer = await ask("/orders/a%20b?page=2", { headers: { ...headers, "x-user-id": "u-2" } });
        assert.deepEqual(await answer.json(), { id: "a b", user: "u-1", page: "2" });
        assert.deepEqual(requests, ["GET /orders/a%20b?page=2"]);
      });

      it("never sees what is denied", async () => {
        const order = { method: "POST", headers: { ...headers, "content-type": "application/json" } };
        const cases: readonly (readonly [status: number, path: string, init?: RequestInit])[] = [
          [401, "/orders/7"],
          [403, "/orders/8", { headers }],
          [403, "/orders", { ...order, body: '{"total":100}' }],
          [400, "/orders", { ...order, body: '{"total":1,"total":100}' }],
          [403, "/orders/7", { method: "DELETE", headers }],
          [400, "/orders/..%2fpublic", { headers }],
          [400, "/Public"],
        ];
        for (const [status, path, init] of cases)
          assert.equal((await ask(path, init)).status, status, `${init?.method ?? "GET"} ${path}`);
        assert.deepEqual(requests, []);
      });

      it("reads the JSON that a rule has read", async () => {
        const body = JSON.stringify({ total: 99.5, items: ["ä", { name: "x".repeat(50_000) }] });
        const init = { method: "POST", headers: { ...headers, "content-type": "application/json" }, body };
        const answer = await ask("/orders", init);
        assert.deepEqual([answer.status, await answer.json()], [201, JSON.parse(body)]);
      });

      it("takes forms, and answers with a cookie and a redirect", async () => {
        const answer = await ask("/form", { method: "POST", body: new URLSearchParams({ name: "ä & b" }) });
        assert.deepEqual([answer.status, answer.headers.get("location")], [303, "/public"]);
        assert.match(answer.headers.get("set-cookie") ?? "", /^flash=saved;/);
        assert.deepEqual(requests, ["POST /form", '{"name":"ä & b"}']);
        const page = await ask("/public");
        assert.match(page.headers.get("content-type") ?? "", /^text\/html/);
        assert.equal(await page.text(), "<p>public</p>");
      });
    });

  describe("Django", () => {
    const world = useGateway(
      () => startPython("django_application.py"),
      `
policies:
  - { resource: "* /basket", condition: true }
  - { resource: GET /contents, condition: true }
  - { resource: GET /staff, condition: user.role == "admin" }
`,
    );
    const cookiesOf = (answer: Response) =>
      answer.headers.getSetCookie().map((cookie) => cookie.split(";")[0]);
    const open = async () => {
      const answer = await fetch(`${world.gateway.url}/basket/`);
      const [, token = ""] = /csrfmiddlewaretoken" value="([^"]+)"/.exec(await answer.text()) ?? [];
      return { token, cookie: cookiesOf(answer).join("; ") };
    };
    const post = (body: FormData | URLSearchParams, cookie: string, origin = world.gateway.url) =>
      fetch(`${world.gateway.url}/basket/`, {
        method: "POST",
        body,
        redirect: "manual",
        headers: { cookie, origin },
      });

    it("takes its form, with its own CSRF protection, and remembers it in the session", async () => {
      const { token, cookie } = await open();
      const form = new FormData();
      form.set("csrfmiddlewaretoken", token);
      form.set("item", "ä pot");
      form.set("picture", new Blob(["x".repeat(100_000)]), "pot.png");
      const saved = await post(form, cookie);
      assert.deepEqual([saved.status, saved.headers.get("location")], [302, "/basket/"]);
      const more = [cookie, ...cookiesOf(saved)].join("; ");
      const second = new URLSearchParams({ csrfmiddlewaretoken: token, item: "lid" });
      const again = await post(second, more);
      const session = { cookie: cookiesOf(again).join("; ") };
      const contents = await fetch(`${world.gateway.url}/contents`, { headers: session });
      assert.deepEqual(await contents.json(), { items: ["ä pot", "lid"], files: {}, user: "" });
    });

    it("still refuses forms without its token, or of another origin", async () => {
      const { token, cookie } = await open();
      const form = new URLSearchParams({ csrfmiddlewaretoken: token, item: "x" });
      assert.equal((await post(new URLSearchParams({ item: "x" }), cookie)).status, 403);
      assert.equal((await post(form, "")).status, 403);
      assert.equal((await post(form, cookie, "http://evil.test")).status, 403);
      assert.equal((await post(form, cookie)).status, 302);
    });

    it("has pages for the staff, which nobody else sees", async () => {
      const ask = async (claims?: object) => {
        const authorization = claims && `Bearer ${await world.issuer.token({ sub: "u-1", ...claims })}`;
        return fetch(`${world.gateway.url}/staff/`, {
          headers: authorization === undefined ? {} : { authorization },
        });
      };
      assert.equal((await ask()).status, 401);
      assert.equal((await ask({ role: "viewer" })).status, 403);
      assert.deepEqual(await (await ask({ role: "admin" })).json(), { user: "u-1" });
    });
  });
});

describe("clients: socket.io", function () {
  this.timeout(120_000);
  const start = async (): Promise<Application> => {
    const server = createServer();
    const sockets = new Server(server);
    sockets.on("connection", (socket) => {
      socket.emit("welcome", socket.handshake.headers["x-user-id"] ?? "nobody");
      socket.on("echo", (value: unknown, reply: (value: unknown) => void) => {
        reply(value);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      close: async () => {
        await sockets.close();
      },
    };
  };
  const world = useGateway(
    start,
    `
policies:
  - { resource: "* /socket.io", condition: exists(user.id) }
websocket_policies:
  - connection: { path: /socket.io, condition: exists(user.id) }
`,
  );

  /** Connects, says something, and waits for an upgrade if one is wanted. */
  const talk = (transports: string[], token?: string) =>
    new Promise<string>((resolve) => {
      const extraHeaders = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const socket: Socket = io(world.gateway.url, {
        transports,
        extraHeaders,
        reconnection: false,
        forceNew: true,
      });
      const end = (text: string) => {
        socket.close();
        resolve(text);
      };
      socket.on("connect_error", ({ message }) => {
        end(`refused: ${message}`);
      });
      socket.on("welcome", (user: string) => {
        const ask = () => {
          const value = { list: [1, "ä"], long: "x".repeat(100_000) };
          socket.emit("echo", value, (answer: unknown) => {
            assert.deepEqual(answer, value);
            end(`${user} by ${socket.io.engine.transport.name}`);
          });
        };
        const { engine } = socket.io;
        // it begins with the first
        if (engine.transport.name === transports.at(-1)) ask();
        else engine.on("upgrade", ask);
      });
    });

  it("connects by polling, by WebSocket, and from one to the other", async () => {
    const token = await world.issuer.token({ sub: "u-1" });
    assert.equal(await talk(["polling"], token), "u-1 by polling");
    assert.equal(await talk(["websocket"], token), "u-1 by websocket");
    assert.equal(await talk(["polling", "websocket"], token), "u-1 by websocket");
  });

  it("is refused without an identity, whichever transport it begins with", async () => {
    assert.match(await talk(["polling"]), /^refused: xhr poll error/);
    assert.match(await talk(["websocket"]), /^refused: websocket error/);
  });
});

describe("clients: websockets, the library for Python", function () {
  this.timeout(120_000);
  const world = useGateway(
    () => startPython("python_websockets.py", "serve"),
    `
websocket_policies:
  - connection: { path: /chat, condition: true }
    message_types:
      - { type: say, condition: message.room == "open" }
      - { type: shout, condition: false, on_deny: close }
      - { type: say, direction: receive, condition: true, fields: [{ name: secret, condition: true, mask_type: full }] }
  - connection: { path: /plain, condition: true }
  - connection: { path: /staff, condition: user.role == "admin" }
`,
  );
  const talk = (path: string, ...texts: string[]) =>
    runPython("python_websockets.py", "talk", world.gateway.url.replace("http", "ws") + path, ...texts);

  it("talks to a server of its own kind, on connections that a rule permits", async () => {
    const texts = ["hello", "ä".repeat(20_000), ""];
    assert.deepEqual(await talk("/plain", ...texts), { heard: texts });
    assert.deepEqual(await talk("/staff", "hello"), { status: 401 });
    assert.deepEqual(await talk("/nowhere", "hello"), { status: 403 });
  });

  it("hears only what the rules permit", async () => {
    const say = (room: string, secret: string) => JSON.stringify({ type: "say", room, secret });
    const { heard } = (await talk("/chat", say("open", "1"), say("closed", "2"))) as { heard: string[] };
    const messages = heard.map((text) => JSON.parse(text) as Record<string, unknown>);
    const delivered = messages.filter(({ type }) => type === "say");
    assert.deepEqual(
      delivered.map(({ room, secret }) => [room, secret === "1"]),
      [["open", false]],
    );
    assert.deepEqual([heard.length, heard.join().includes("closed")], [2, false]);
    assert.deepEqual(await talk("/chat", '{"type":"shout"}'), { heard: [], closed: 1008 });
  });
});
