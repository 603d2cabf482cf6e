import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import type { Server } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { join } from "node:path";
import { createHttpServer, type FollowedTls } from "../../src/runtime/tls-server.ts";
import { createAuthority } from "../support/certificates.ts";
import { eventually } from "../support/eventually.ts";
import { sendRaw } from "../support/raw-http.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

describe("an HTTP server, with or without TLS", () => {
  const open: { server: Server; unfollow: () => Promise<void> }[] = [];
  afterEach(async () => {
    for (const { server, unfollow } of open.splice(0)) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await unfollow();
    }
  });

  async function start(headersTimeout: number, tls?: FollowedTls): Promise<number> {
    const options = { headersTimeout, connectionsCheckingInterval: 50 };
    const made = await createHttpServer(
      options,
      ({ rawHeaders }, response) => response.end(String(rawHeaders.length / 2)),
      tls,
    );
    open.push(made);
    await new Promise<void>((resolve) => made.server.listen(0, "127.0.0.1", resolve));
    return (made.server.address() as AddressInfo).port;
  }

  async function tls(): Promise<FollowedTls> {
    const folder = await temporaryDirectory();
    const pair = await (await createAuthority("ours")).issue("127.0.0.1");
    const files = { certificate: join(folder, "certificate.pem"), privateKey: join(folder, "key.pem") };
    await writeFile(files.certificate, pair.certificate);
    await writeFile(files.privateKey, pair.privateKey);
    const nothing = () => undefined;
    return { files, log: { info: nothing, warn: nothing, error: nothing } };
  }

  it("waits no longer for a handshake than for headers", async () => {
    for (const followed of [undefined, await tls()]) {
      const socket = connect(await start(200, followed), "127.0.0.1");
      socket.on("error", () => undefined).resume();
      await eventually(
        `the end of a silent connection, ${followed ? "with" : "without"} TLS`,
        () => socket.closed,
      );
    }
  });

  it("reads all headers, however many there are", async () => {
    const many = "a: b\r\n".repeat(2_500);
    const { body } = await sendRaw(await start(10_000), `GET / HTTP/1.1\r\nHost: a\r\n${many}\r\n`);
    assert.match(body, /2501/);
  });
});
