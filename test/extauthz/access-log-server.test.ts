import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { status } from "@grpc/grpc-js";
import { HealthState } from "../../src/extauthz/health.ts";
import { startAuthzServer, type AuthzServer } from "../../src/extauthz/server.ts";
import { connectClient, until, type TestClient } from "./support/client.ts";

describe("extauthz: server, access logs", () => {
  let folder: string;
  let received: Buffer[];
  let server: AuthzServer;
  let client: TestClient;

  const fail = (_: object, message: string) => assert.fail(message);
  const start = async (withAccessLog = true) => {
    server = await startAuthzServer({
      listen: { unix: join(folder, "authz.sock") },
      check: (bytes) => bytes,
      ...(withAccessLog && { accessLog: (bytes: Buffer) => received.push(bytes) }),
      health: new HealthState(),
      log: { info: () => undefined, warn: fail, error: fail },
    });
    client = connectClient(`unix:${server.address}`);
  };
  const texts = () => received.map(String);

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "gatehouse-server-"));
    received = [];
  });
  afterEach(async () => {
    client.close();
    await server.close(0);
    await rm(folder, { recursive: true });
  });

  it("takes messages as they come, on several streams, beside checks", async () => {
    await start();
    const [one, other] = [client.accessLogs(), client.accessLogs()];
    one.stream.write(Buffer.from("1"));
    await until(() => received.length === 1, "the first message");
    other.stream.write(Buffer.from("2"));
    await until(() => received.length === 2, "the second message");
    assert.equal(String(await client.check(Buffer.from("check"))), "check");
    one.stream.write(Buffer.from("3"));
    one.stream.end();
    assert.equal(await one.ended, status.OK);
    assert.deepEqual(texts(), ["1", "2", "3"]);
  });

  it("survives a client that leaves", async () => {
    await start();
    const leaving = client.accessLogs();
    leaving.stream.write(Buffer.from("1"));
    await until(() => received.length === 1, "the message");
    leaving.stream.cancel();
    assert.equal(await leaving.ended, status.CANCELLED);
    const another = client.accessLogs();
    another.stream.write(Buffer.from("2"));
    await until(() => received.length === 2, "the next message");
  });

  it("ends a stream with a message of more than 16 MiB, and takes the next", async () => {
    await start();
    const large = client.accessLogs();
    large.stream.write(Buffer.alloc(17 * 1024 * 1024));
    assert.equal(await large.ended, status.RESOURCE_EXHAUSTED);
    const next = client.accessLogs();
    next.stream.write(Buffer.from("next"));
    await until(() => received.length === 1, "the next message");
    assert.deepEqual(texts(), ["next"]);
  });

  it("is taken while the server drains", async () => {
    await start();
    const { stream, ended } = client.accessLogs();
    stream.write(Buffer.from("1"));
    await until(() => received.length === 1, "the message");
    const closed = server.close(3_600_000);
    stream.write(Buffer.from("2"));
    await until(() => received.length === 2, "the message during the grace");
    stream.end();
    assert.equal(await ended, status.OK);
    client.close();
    await closed;
  });

  it("ends with the server", async () => {
    await start();
    const { stream, ended } = client.accessLogs();
    stream.write(Buffer.from("1"));
    await until(() => received.length === 1, "the message");
    await server.close(0);
    assert.equal(await ended, status.OK);
  });

  it("is not there for a server that wants none", async () => {
    await start(false);
    assert.equal(await client.accessLogs().ended, status.UNIMPLEMENTED);
  });
});
