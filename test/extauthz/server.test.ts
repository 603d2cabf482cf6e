import assert from "node:assert/strict";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { status } from "@grpc/grpc-js";
import { GIVEN_UP } from "../../src/decision/point/index.ts";
import { HealthState } from "../../src/extauthz/health.ts";
import {
  startAuthzServer,
  type AuthzServer,
  type AuthzServerOptions,
  type CheckHandler,
} from "../../src/extauthz/server.ts";
import { codeOf, connectClient, until, type TestClient } from "./support/client.ts";

const SERVICE = "envoy.service.auth.v3.Authorization";
const SERVING = 1;
const NOT_SERVING = 2;

describe("extauthz: server", () => {
  let folder: string;
  let servers: AuthzServer[];
  let clients: TestClient[];
  let logged: string[];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "gatehouse-server-"));
    servers = [];
    clients = [];
    logged = [];
  });
  afterEach(async () => {
    for (const client of clients) client.close();
    await Promise.all(servers.map((server) => server.close(0)));
    await rm(folder, { recursive: true });
  });

  const echo: CheckHandler = (bytes) => bytes;
  const say = (object: object, message: string) => {
    logged.push(`${message}: ${String((object as { err?: unknown }).err)}`);
  };
  const start = async (change: Partial<AuthzServerOptions> = {}) => {
    const health = new HealthState();
    const server = await startAuthzServer({
      listen: { host: "127.0.0.1", port: 0 },
      check: echo,
      health,
      log: { info: say, warn: say, error: say },
      ...change,
    });
    servers.push(server);
    return { server, health };
  };
  const client = ({ address, port }: AuthzServer, ...rest: [] | [never, object]) => {
    const target =
      port === 0 ? `unix:${address}` : `${address.includes(":") ? `[${address}]` : address}:${port}`;
    const made = connectClient(target, ...(rest as []));
    clients.push(made);
    return made;
  };
  const request = Buffer.from("any bytes \0\xff", "latin1");

  it("hands the bytes over and back, over TCP", async () => {
    const { server } = await start();
    assert.equal(server.address, "127.0.0.1");
    assert.deepEqual(await client(server).check(request), request);
  });

  it("takes answers that come later", async () => {
    const { server } = await start({ check: async (bytes) => Promise.resolve(bytes) });
    assert.deepEqual(await client(server).check(request), request);
  });

  it("knows when our own Envoy asked: one whose access log it receives, on the same machine", async () => {
    const said: unknown[] = [];
    const check: CheckHandler = (bytes, { askedAfter }) => {
      said.push(askedAfter);
      return bytes;
    };
    const accessLog = () => undefined;
    const own = { unix: join(folder, "own.sock") };
    const servers = [
      await start({ check, accessLog, listen: own }),
      await start({ check, listen: { unix: join(folder, "other.sock") } }),
      await start({ check, accessLog }),
    ];
    for (const { server } of servers)
      await client(server).check(request, { metadata: { "x-gatehouse-asked-after": "12" } });
    for (const value of ["-1", "1e3", "1".repeat(13), ""])
      await client(servers[0]!.server).check(request, { metadata: { "x-gatehouse-asked-after": value } });
    assert.deepEqual(said, [12, ...Array.from({ length: 6 }, () => undefined)]);
  });

  it("says that there is no decision where nobody waits for one", async () => {
    const { server } = await start({ check: () => GIVEN_UP });
    assert.equal(await codeOf(client(server).check(request)), status.DEADLINE_EXCEEDED);
    assert.deepEqual(logged, []);
  });

  it("knows the caller's deadline", async () => {
    const deadlines: number[] = [];
    const { server } = await start({
      check: (bytes, { deadline }) => {
        deadlines.push(deadline - Date.now());
        return bytes;
      },
    });
    await client(server).check(request, { deadlineMs: 5_000 });
    assert.ok(deadlines[0]! > 1_000 && deadlines[0]! <= 5_000, String(deadlines));
  });

  describe("never answers OK when a check gives no answer", () => {
    const failures: Record<string, CheckHandler> = {
      throws: () => {
        throw new Error("secret detail");
      },
      rejects: () => Promise.reject(new Error("secret detail")),
      "is empty": () => Buffer.alloc(0),
      "is nothing": () => undefined as unknown as Buffer,
    };
    for (const [name, check] of Object.entries(failures)) {
      it(`because it ${name}`, async () => {
        const { server } = await start({ check });
        await assert.rejects(client(server).check(request), {
          code: status.INTERNAL,
          details: "the check failed",
        });
        assert.equal(logged.length, 1);
      });
    }
  });

  it("refuses messages of more than 16 MiB, and takes those of 15", async () => {
    let seen = 0;
    const { server } = await start({
      check: (bytes) => {
        seen += 1;
        return bytes.subarray(0, 5);
      },
    });
    const caller = client(server);
    assert.equal(await codeOf(caller.check(Buffer.alloc(17 * 1024 * 1024))), status.RESOURCE_EXHAUSTED);
    assert.equal(seen, 0);
    await caller.check(Buffer.alloc(15 * 1024 * 1024));
    assert.equal(seen, 1);
  });

  it("has no other methods", async () => {
    const { server } = await start();
    const code = await codeOf(client(server).call("/envoy.service.auth.v3.Authorization/Other", request));
    assert.equal(code, status.UNIMPLEMENTED);
  });

  it("survives calls that are cancelled, and connections that break off", async () => {
    const answers: (() => void)[] = [];
    const isCancelled: ((() => boolean) | undefined)[] = [];
    const { server } = await start({
      check: (bytes, context) =>
        new Promise((resolve) => {
          isCancelled.push(context.isCancelled);
          answers.push(() => {
            resolve(bytes);
          });
        }),
    });
    const caller = client(server);
    const abort = new AbortController();
    const cancelled = codeOf(caller.check(request, { cancel: abort.signal }));
    await until(() => answers.length === 1, "the check is under way");
    abort.abort();
    assert.equal(await cancelled, status.CANCELLED);
    await until(() => isCancelled[0]?.() === true, "the check knows that nobody wants its answer");

    const leaver = client(server);
    const left = codeOf(leaver.check(request));
    await until(() => answers.length === 2, "the second check is under way");
    leaver.close();
    for (const answer of answers) answer();
    await left;

    const last = caller.check(request);
    await until(() => answers.length === 3, "the third check is under way");
    assert.equal(isCancelled[2]?.(), false);
    answers[2]!();
    assert.deepEqual(await last, request);
    assert.deepEqual(logged, []);
  });

  it("ends a check that outlasts its deadline with an error", async () => {
    const { server } = await start({ check: () => new Promise<Buffer>(() => undefined) });
    assert.equal(await codeOf(client(server).check(request, { deadlineMs: 50 })), status.DEADLINE_EXCEEDED);
  });

  describe("on a Unix socket", () => {
    const path = () => join(folder, "authz.sock");

    it("serves, and the socket is its user's alone", async () => {
      const { server } = await start({ listen: { unix: path() } });
      assert.deepEqual([server.address, server.port], [path(), 0]);
      assert.equal((await stat(path())).mode & 0o777, 0o600);
      assert.deepEqual(await client(server).check(request), request);
      await server.close(0);
      await assert.rejects(stat(path()), { code: "ENOENT" });
    });

    it("takes the place of a socket that nobody listens on", async () => {
      const { execFileSync } = await import("node:child_process");
      // Killed, a process leaves its socket behind.
      const script = `require("net").createServer().listen(${JSON.stringify(path())}, () => process.kill(process.pid, "SIGKILL"))`;
      assert.throws(() => execFileSync(process.execPath, ["-e", script]), { signal: "SIGKILL" });
      assert.ok((await stat(path())).isSocket());
      const { server } = await start({ listen: { unix: path() } });
      assert.deepEqual(await client(server).check(request), request);
    });

    it("does not take it from somebody who listens", async () => {
      const { server } = await start({ listen: { unix: path() } });
      await assert.rejects(start({ listen: { unix: path() } }), /another process listens on/);
      assert.deepEqual(await client(server).check(request), request);
    });

    it("does not remove what is no socket", async () => {
      await writeFile(path(), "precious");
      await assert.rejects(start({ listen: { unix: path() } }), /exists and is not a socket/);
      assert.equal((await stat(path())).size, 8);
    });

    it("needs a path that fits", async () => {
      await assert.rejects(
        start({ listen: { unix: join(folder, "x".repeat(108)) } }),
        /too long \(\d+ bytes/,
      );
      await assert.rejects(start({ listen: { unix: "\0abstract" } }), /must not contain NUL/);
      await assert.rejects(start({ listen: { unix: join(folder, "missing", "a.sock") } }), {
        code: /ENOENT|EACCES/,
      });
      await assert.rejects(start({ listen: { unix: join(folder, "authz.sock", "below") } }));
    });
  });

  it("says where it cannot listen", async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    const { port } = taken.address() as { port: number };
    await assert.rejects(start({ listen: { host: "127.0.0.1", port } }), { code: "EADDRINUSE" });
    await new Promise((resolve) => taken.close(resolve));
  });

  describe("health", () => {
    it("is NOT_SERVING until told otherwise, for the server and for its service", async () => {
      const { server, health } = await start();
      const caller = client(server);
      for (const service of ["", SERVICE]) {
        health.set(false);
        assert.equal(await caller.health(service), NOT_SERVING);
        health.set(true);
        assert.equal(await caller.health(service), SERVING);
      }
      assert.equal(await codeOf(caller.health("other")), status.NOT_FOUND);
    });

    it("can be watched", async () => {
      const { server, health } = await start();
      const seen: (number | undefined)[] = [];
      const stream = client(server).watch(SERVICE);
      stream.on("data", (bytes: Buffer) => seen.push(bytes[1]));
      const ended = new Promise((resolve) => stream.on("end", resolve));
      await until(() => seen.length === 1, "the first status");
      health.set(true);
      health.set(true);
      await until(() => seen.length === 2, "the second status");
      await server.close(0);
      await ended;
      assert.deepEqual(seen, [NOT_SERVING, SERVING, NOT_SERVING]);
    });

    it("of an unknown service is unknown, and a watcher may leave", async () => {
      const { server, health } = await start();
      const caller = client(server);
      for (const [service, expected] of [
        ["other", 3],
        [SERVICE, NOT_SERVING],
      ] as const) {
        const stream = caller.watch(service);
        stream.on("error", () => undefined);
        const first = await new Promise<Buffer>((resolve) => stream.once("data", resolve));
        assert.equal(first[1], expected);
        stream.cancel();
      }
      health.set(true);
      assert.equal(await caller.health(), SERVING);
    });
  });

  describe("closing", () => {
    it("is immediate when nobody is connected", async () => {
      const { server, health } = await start();
      health.set(true);
      await server.close(3_600_000);
      assert.equal(health.serving, false);
    });

    it("says NOT_SERVING, goes on answering, and ends when the last client has gone", async () => {
      const { server, health } = await start();
      health.set(true);
      const caller = client(server);
      await caller.check(request);
      const closed = server.close(3_600_000);
      assert.equal(await caller.health(), NOT_SERVING);
      assert.deepEqual(await caller.check(request), request);
      const another = client(server);
      assert.deepEqual(await another.check(request), request);
      caller.close();
      another.close();
      await closed;
    });

    it("loses no check under load, and takes none after the grace", async () => {
      const { server, health } = await start({
        check: async (bytes) => {
          await new Promise((resolve) => setTimeout(resolve, 5));
          return bytes;
        },
      });
      health.set(true);
      const caller = client(server);
      const codes: number[] = [];
      let stop = false;
      // Like Envoy: no new checks for a server that says NOT_SERVING.
      const load = Array.from({ length: 20 }, async () => {
        while (!stop) codes.push(await codeOf(caller.check(request)));
      });
      await until(() => codes.length > 100, "load");
      const closed = server.close(2_000);
      await until(async () => (await caller.health()) === NOT_SERVING, "NOT_SERVING");
      stop = true;
      await Promise.all(load);
      assert.deepEqual(new Set(codes), new Set([status.OK]));
      await closed;
      assert.equal(await codeOf(caller.check(request)), status.UNAVAILABLE);
    });

    it("finishes checks under way after the grace, and gives up on one that hangs", async () => {
      let answer = (): void => undefined;
      const { server } = await start({
        check: (bytes) =>
          bytes.length === 1
            ? new Promise<Buffer>(() => undefined)
            : new Promise((resolve) => {
                answer = () => {
                  resolve(bytes);
                };
              }),
      });
      const caller = client(server);
      const slow = caller.check(request);
      const hanging = codeOf(caller.check(Buffer.alloc(1)));
      const initial = answer;
      await until(() => answer !== initial, "the check is under way");
      const closed = server.close(0);
      setTimeout(answer, 50);
      assert.deepEqual(await slow, request);
      await closed;
      assert.notEqual(await hanging, status.OK);
    });

    it("twice is once", async () => {
      const { server } = await start();
      await Promise.all([server.close(0), server.close(0)]);
    });
  });
});
