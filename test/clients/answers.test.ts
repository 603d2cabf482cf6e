import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket, WebSocketServer } from "ws";
import { eventually } from "../support/eventually.ts";
import { startGateway, type RunningGateway } from "../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../support/providers/issuer.ts";

/** Longer than the gateway below lets an application be silent. */
const LONG = 2_500;

describe("answers of HTTP/1.1 applications that take long, or never end", function () {
  this.timeout(120_000);
  let gateway: RunningGateway;
  let issuer: TestIssuer;
  const closed: string[] = [];

  const PAGES: Readonly<Record<string, (response: ServerResponse) => Promise<void> | void>> = {
    "/poll": async (response) => {
      await sleep(LONG);
      response.end("news");
    },
    "/other": async (response) => {
      await sleep(LONG);
      response.end("late");
    },
    "/events": async (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const text of ["one", "two"]) {
        response.write(`data: {"text":"${text}","ssn":"1"}\n\n`);
        await sleep(LONG);
      }
      response.end();
    },
    "/masked/camera": (response) => {
      response.writeHead(200, { "content-type": "multipart/x-mixed-replace; boundary=frame" });
      setInterval(() => response.write("--frame\r\nContent-Type: image/jpeg\r\n\r\nssn\r\n"), 50).unref();
    },
    "/masked/log": (response) => {
      response.writeHead(200, { "content-type": "text/plain" });
      setInterval(() => response.write("ssn\n"), 50).unref();
    },
    "/masked/watch": (response) => {
      response.writeHead(200, { "content-type": "application/stream+json" });
      setInterval(() => response.write('{"ssn":"1"}\n'), 50).unref();
    },
    "/masked/changes": (response) => {
      // as Docker, CouchDB and Kubernetes stream what happens
      response.writeHead(200, { "content-type": "application/json" });
      setInterval(() => response.write('{"ssn":"1"}\n'), 50).unref();
    },
    "/masked/silent": (response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write('{"ssn":"1",');
    },
    "/download": (response) => {
      response.writeHead(200, { "content-type": "text/plain" });
      setInterval(() => response.write("part"), 50).unref();
    },
    "/masked/empty": (response) => {
      // without a type, and of unknown length
      response.writeHead(202);
      response.end();
    },
    "/masked/missing": (response) => {
      response.writeHead(404, { "content-type": "text/html", "x-own": "kept" });
      response.end("<p>ssn");
    },
    "/masked/moved": (response) => {
      response.writeHead(302, { location: "/elsewhere", "content-type": "text/plain" });
      response.write("ssn");
      response.end();
    },
    "/masked/large": (response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ ssn: "1", rest: "x".repeat(3_000_000) }));
    },
    "/masked/larger": (response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ ssn: "1", rest: "x".repeat(1_500_000) }));
    },
  };

  const application = createServer((request: IncomingMessage, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://app.test");
    response.on("close", () => closed.push(pathname));
    let bytes = 0;
    request.on("data", (chunk: Buffer) => (bytes += chunk.length));
    request.on("end", () => {
      const page = PAGES[pathname];
      if (page === undefined) response.end(String(bytes));
      else void page(response);
    });
  });

  new WebSocketServer({ server: application }).on("connection", (socket) => {
    socket.on("message", (data: Buffer) => {
      socket.send(data);
    });
  });

  before(async () => {
    await once(application.listen(0, "127.0.0.1"), "listening");
    issuer = await startIssuer();
    gateway = await startGateway({
      backend: `http://127.0.0.1:${(application.address() as AddressInfo).port}`,
      issuer,
      policies: {
        "default.yaml": `
policies:
  - { resource: "* /**", condition: "true" }
response_masks:
  - { api_pattern: "/masked/**", fields: [{ name: ssn, condition: "true", mask_type: full }] }
  - { api_pattern: "/events", fields: [{ name: ssn, condition: "true", mask_type: full }] }
`,
      },
      config: {
        gateway: {
          upstream_timeout: "2s",
          security: { request_size_limit: "10KB", response_size_limit: "1MB" },
          routes: [
            { path: "/poll", upstream_timeout: "1m" },
            { path: "/masked/large", response_size_limit: "5MB" },
            { path: "/masked/changes", response_timeout: "2s" },
            { path: "/masked/silent", response_size_limit: "2MB" },
            { path: "/download", response_timeout: "2s" },
            { path: "/uploads/{id}", request_size_limit: "5MB" },
            { path: "/sockets/{id}", idle_timeout: "1s" },
            { path: "/comments", request_size_limit: "100B" },
          ],
        },
      },
    });
  });
  after(async () => {
    await gateway.stop();
    application.closeAllConnections();
    application.close();
    await issuer.close();
  });

  const ask = (path: string, options: RequestInit = {}) =>
    fetch(`${gateway.url}${path}`, { redirect: "manual", signal: AbortSignal.timeout(20_000), ...options });

  it("long polls have their route's patience, and nothing else has", async () => {
    const [poll, other] = await Promise.all([ask("/poll"), ask("/other")]);
    assert.deepEqual([poll.status, await poll.text()], [200, "news"]);
    assert.equal(other.status, 504);
  });

  it("Server-Sent Events are silent for longer, and masked", async () => {
    const response = await ask("/events", { headers: { accept: "text/event-stream" } });
    const text = await response.text();
    assert.deepEqual(
      [response.status, /"one"[^]*"two"/.test(text), text.includes('"ssn":"1"')],
      [200, true, false],
    );
  });

  for (const path of ["/masked/camera", "/masked/log"]) {
    it(`${path} under a response rule is refused at its headers, and ended`, async () => {
      closed.length = 0;
      const response = await ask(path);
      const text = await response.text();
      assert.deepEqual([response.status, text.includes("ssn")], [502, false]);
      assert.ok(text.includes("RESPONSE_NOT_DELIVERED"));
      await eventually("the end", () => closed.includes(path));
    });
  }

  for (const path of ["/masked/changes", "/masked/silent"]) {
    it(`${path} is ended by the time limit, and nothing of it is delivered`, async () => {
      closed.length = 0;
      const response = await ask(path);
      const text = await response.text();
      assert.deepEqual([response.status, text.includes("ssn")], [504, false]);
      assert.ok(text.includes("UPSTREAM_TIMEOUT"), text);
      await eventually("the end", () => closed.includes(path));
    });
  }

  it("a response that has begun ends when its time is over", async () => {
    const response = await ask("/download");
    assert.equal(response.status, 200);
    await assert.rejects(response.text());
    await eventually("the end", () => closed.includes("/download"));
  });

  it("streaming JSON is masked line by line", async () => {
    const reader = (await ask("/masked/watch")).body!.getReader();
    const { value } = (await reader.read()) as { value?: Uint8Array };
    assert.match(new TextDecoder().decode(value), /^\{"ssn":"[^1]+"\}\n/);
    await reader.cancel();
  });

  it("WebSocket connections have the idle time of their route", async () => {
    const open = async (path: string) => {
      const socket = new WebSocket(`${gateway.url.replace("http", "ws")}${path}`);
      socket.on("error", () => undefined);
      const closed = once(socket, "close");
      await once(socket, "open");
      return { socket, closed };
    };
    const [short, { socket: usual }] = await Promise.all([open("/sockets/a"), open("/other-sockets")]);
    await short.closed;
    assert.equal(usual.readyState, WebSocket.OPEN);
    usual.send("still there");
    const [echo] = (await once(usual, "message")) as [Buffer];
    assert.equal(echo.toString(), "still there");
    usual.terminate();
  });

  it("errors and redirects keep their status, and empty responses pass", async () => {
    const missing = await ask("/masked/missing");
    assert.deepEqual([missing.status, missing.headers.get("x-own")], [404, "kept"]);
    const moved = await ask("/masked/moved");
    assert.deepEqual([moved.status, moved.headers.get("location")], [302, "/elsewhere"]);
    for (const response of [missing, moved]) assert.ok(!(await response.text()).includes("ssn"));
    const empty = await ask("/masked/empty");
    assert.deepEqual([empty.status, await empty.text()], [202, ""]);
  });

  it("a larger response is masked where its route permits the size, and only there", async () => {
    const large = await ask("/masked/large");
    assert.equal(large.status, 200);
    assert.notEqual(((await large.json()) as { ssn: string }).ssn, "1");
    assert.equal((await ask("/masked/larger")).status, 502);
  });

  it("sizes of requests are those of the route, however its path is spelled", async () => {
    const post = async (path: string, size: number) => {
      const body = new ReadableStream({
        start: (controller) => {
          controller.enqueue(new TextEncoder().encode("x".repeat(size)));
          controller.close();
        },
      });
      const known = await ask(path, { method: "POST", body: "x".repeat(size) });
      const unknown = await ask(path, { method: "POST", body, duplex: "half" });
      return [known.status, unknown.status];
    };
    assert.deepEqual(await post("/uploads/a", 4_000_000), [200, 200]);
    assert.deepEqual(await post("/uploads/a/b", 11_000), [413, 413]);
    for (const path of ["/comments", "/comments/", "/Comments", "/comments.json"])
      assert.deepEqual(await post(path, 101), [413, 413], path);
    assert.deepEqual(await post("/comments", 100), [200, 200]);
    assert.deepEqual(await post("/comments/a", 101), [200, 200]);
    for (const path of ["/uploads/..%2fcomments", "//comments", "/comment%73"])
      assert.deepEqual(await post(path, 101), [400, 400], path);
  });
});
