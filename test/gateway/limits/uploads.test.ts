import assert from "node:assert/strict";
import { request, type ClientRequest } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { send, sendHttp2, until } from "../support/client.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";

/** Of the limits below; the test has one thread, so its share is at least one body of the largest size. */
const LARGEST = 400_000;

describe("gateway: unfinished uploads of unknown length", () => {
  let gateway: TestGateway;
  const unfinished: ClientRequest[] = [];
  before(async () => {
    gateway = await startGateway({
      overrides: {
        "gateway.security.request_size_limit": String(LARGEST),
        "gateway.performance.upload_memory_limit": "1MiB",
        "gateway.performance.request_timeout": "1m",
      },
    });
  });
  after(() => gateway.stop());
  afterEach(() => {
    for (const call of unfinished.splice(0)) call.destroy();
    gateway.upstream.seen.length = 0;
  });

  const begin = async (bytes: number) => {
    const before = gateway.authz.checks.length;
    const call = request({ host: "127.0.0.1", port: gateway.port, method: "POST", path: "/", agent: false });
    call.on("error", () => undefined);
    call.write("x".repeat(bytes));
    unfinished.push(call);
    await until(() => gateway.authz.checks.length > before, "the decision");
    return call;
  };
  /** More than the share of one thread on a machine of any size. */
  const fill = async () => {
    for (let count = 0; count < 4; count++) await begin(LARGEST * 0.7);
    await sleep(500);
  };
  const post = (bytes: number) =>
    send(gateway.port, "/", { method: "POST", body: "x".repeat(bytes), chunked: true });

  /** Abandoned ones are forgotten within a second. */
  const room = () =>
    until(async () => {
      await sleep(200);
      return (await post(LARGEST * 0.9)).status === 200;
    }, "there is room");

  it("are limited together: 503 with Retry-After, and nothing reaches the application", async () => {
    await fill();
    const answer = await post(LARGEST * 0.9);
    assert.deepEqual([answer.status, answer.headers["retry-after"]], [503, "1"]);
    assert.equal((JSON.parse(answer.body) as { error: { code: string } }).error.code, "SERVICE_UNAVAILABLE");
    const overHttp2 = await sendHttp2(gateway.port, "/", { method: "POST", body: "x".repeat(LARGEST * 0.9) });
    assert.equal(overHttp2.status, 503);
    assert.equal(gateway.upstream.seen.length, 0);
    // what says its length is not held
    const { status } = await send(gateway.port, "/", { method: "POST", body: "x".repeat(LARGEST) });
    assert.deepEqual([status, gateway.upstream.seen[0]?.bytes], [200, LARGEST]);
  });

  it("are too large, and not too many, if one of them alone exceeds the limit of a body", async () => {
    await room();
    gateway.upstream.seen.length = 0;
    for (const bytes of [LARGEST + 1, LARGEST * 2, LARGEST * 10])
      for (const answer of [
        await post(bytes),
        await sendHttp2(gateway.port, "/", { method: "POST", body: "x".repeat(bytes) }),
      ])
        assert.equal(answer.status, 413, String(bytes));
    assert.deepEqual(gateway.upstream.seen, []);
  });

  it("that were dropped in part never reach the application, even when they end", async () => {
    await room();
    gateway.upstream.seen.length = 0;
    const calls: ClientRequest[] = [];
    for (let count = 0; count < 4; count++) calls.push(await begin(LARGEST * 0.7));
    await sleep(500);
    const statuses = await Promise.all(
      calls.map(
        (call) =>
          new Promise<number>((resolve) => {
            call.on("response", (response) => {
              response.resume();
              resolve(response.statusCode ?? 0);
            });
            call.end("end");
          }),
      ),
    );
    const passed = statuses.filter((status) => status === 200);
    assert.ok(passed.length >= 1 && passed.length < 4, statuses.join());
    assert.ok(
      statuses.every((status) => status === 200 || status === 503),
      statuses.join(),
    );
    assert.deepEqual(
      gateway.upstream.seen.map(({ bytes }) => bytes),
      passed.map(() => LARGEST * 0.7 + 3),
    );
  });

  it("make room again when they end or are abandoned", async () => {
    await fill();
    for (const call of unfinished.splice(0)) call.destroy();
    await room();
    for (let count = 0; count < 5; count++) assert.equal((await post(LARGEST * 0.9)).status, 200);
  });

  it("include no request whose method usually has no body, which gets a small limit instead", async () => {
    await fill();
    const { status } = await send(gateway.port, "/", {
      method: "GET",
      body: "x".repeat(1000),
      chunked: true,
    });
    assert.equal(status, 200);
  });
});
