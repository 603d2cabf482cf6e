import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { createSecureServer } from "node:http2";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { connect } from "node:tls";
import type { SecureVersion } from "node:tls";
import { WebSocketServer } from "ws";
import { sendHttp2 } from "../../support/http2-request.ts";
import { connectSocket } from "../../support/socket-client.ts";
import { headerValues } from "../support/authz-stub.ts";
import { selfSigned } from "../support/certificate.ts";
import { send } from "../support/client.ts";
import { startGateway } from "../support/gateway.ts";
import { planned } from "../support/plans.ts";
import { openState } from "../support/state-file.ts";

/** The protocol that was agreed, or the error. */
function handshake(port: number, version: SecureVersion, ca: string): Promise<string> {
  return new Promise((resolve) => {
    const options = { host: "127.0.0.1", port, servername: "gateway.test", ca, ALPNProtocols: ["h2"] };
    const socket = connect({ ...options, minVersion: version, maxVersion: version }, () => {
      resolve(`${String(socket.getProtocol())} ${String(socket.alpnProtocol)}`);
      socket.destroy();
    });
    socket.on("error", (error: Error) => {
      resolve(error.message);
    });
  });
}

describe("gateway TLS", () => {
  let folder: string;
  const own = selfSigned("gateway.test");

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "gatehouse-"));
    await writeFile(join(folder, "certificate.pem"), own.certificate);
    await writeFile(join(folder, "key.pem"), own.privateKey);
  });
  after(() => rm(folder, { recursive: true }));

  for (const least of ["1.2", "1.3"] as const) {
    it(`takes nothing older than ${least}`, async () => {
      const gateway = await startGateway({
        overrides: {
          "gateway.security.tls_min_version": least,
          "gateway.security.tls_certificate": join(folder, "certificate.pem"),
          "gateway.security.tls_private_key": join(folder, "key.pem"),
        },
      });
      try {
        assert.equal(await handshake(gateway.port, "TLSv1.3", own.certificate), "TLSv1.3 h2");
        const older = await handshake(gateway.port, "TLSv1.2", own.certificate);
        if (least === "1.2") assert.equal(older, "TLSv1.2 h2");
        else assert.match(older, /protocol version/);
        assert.match(await handshake(gateway.port, "TLSv1.1", own.certificate), /protocol|no ciphers/);
      } finally {
        await gateway.stop();
      }
    });
  }

  it("tells service and application that the scheme is https, whatever the client says", async () => {
    const gateway = await startGateway({
      overrides: {
        "gateway.security.tls_certificate": join(folder, "certificate.pem"),
        "gateway.security.tls_private_key": join(folder, "key.pem"),
      },
    });
    try {
      const url = `https://127.0.0.1:${gateway.port}`;
      const claims = { ":authority": "app.test", "x-forwarded-proto": "http" };
      await sendHttp2(url, { ":path": "/a", ":scheme": "http", ...claims });
      await sendHttp2(url, { ":path": "/a", ":scheme": "https", ...claims });
      const request =
        "GET http://app.test/a HTTP/1.1\r\nHost: app.test\r\nX-Forwarded-Proto: http\r\nConnection: close\r\n\r\n";
      await new Promise((resolve, reject) => {
        const socket = connect({
          host: "127.0.0.1",
          port: gateway.port,
          ca: own.certificate,
          servername: "gateway.test",
        });
        socket.on("error", reject).on("close", resolve).resume().write(request);
      });
      const schemes = gateway.authz.checks.map((check) => headerValues(check, ":scheme"));
      assert.deepEqual(schemes, [["https"], ["https"], ["https"]]);
      assert.deepEqual(
        gateway.upstream.seen.map(({ headers }) => headers["x-forwarded-proto"]),
        ["https", "https", "https"],
      );
    } finally {
      await gateway.stop();
    }
  });

  it("forwards to an https backend only when its certificate is for that name and from that authority", async () => {
    const backend = selfSigned("127.0.0.1");
    const elsewhere = selfSigned("127.0.0.2");
    await writeFile(join(folder, "backend.pem"), backend.certificate);
    await writeFile(join(folder, "elsewhere.pem"), elsewhere.certificate);
    const cases = [
      { served: backend, authority: "backend.pem", status: 200 },
      { served: backend, authority: "certificate.pem", status: 503 },
      { served: elsewhere, authority: "elsewhere.pem", status: 503 },
    ];
    for (const { served, authority, status } of cases) {
      const server = createServer({ cert: served.certificate, key: served.privateKey }, (_, response) => {
        response.end("secure");
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const { port } = server.address() as AddressInfo;
      const gateway = await startGateway({
        overrides: {
          "gateway.backend": `https://127.0.0.1:${port}`,
          "gateway.backend_ca": join(folder, authority),
        },
      });
      try {
        const answer = await send(gateway.port, "/a");
        assert.equal(answer.status, status);
        assert.equal(answer.body === "secure", status === 200);
      } finally {
        await gateway.stop();
        server.closeAllConnections();
        server.close();
      }
    }
  });

  it("brings WebSocket to an https backend that would rather speak HTTP/2", async () => {
    const backend = selfSigned("127.0.0.1");
    await writeFile(join(folder, "backend.pem"), backend.certificate);
    const server = createSecureServer({
      key: backend.privateKey,
      cert: backend.certificate,
      allowHTTP1: true,
    });
    server.on("request", (_request, response) => void response.end("hello"));
    const sockets = new WebSocketServer({ noServer: true });
    server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      sockets.handleUpgrade(request, socket, head, (client) => {
        client.on("message", (data: Buffer) => {
          client.send(`echo ${data.toString()}`);
        });
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const state = await openState();
    const gateway = await startGateway({
      overrides: {
        "gateway.backend": `https://127.0.0.1:${port}`,
        "gateway.backend_ca": join(folder, "backend.pem"),
      },
    });
    try {
      assert.equal((await send(gateway.port, "/")).body, "hello");
      const plan = { ir: 1, websocket: { limit: 1000, environment: "", plain: false } };
      gateway.authz.decide = () => planned(plan, state.metadata);
      const client = await connectSocket(`ws://127.0.0.1:${gateway.port}/`);
      client.socket.send("hi");
      assert.equal(await client.message("the echo", () => true), "echo hi");
      client.close();
    } finally {
      await gateway.stop();
      await state.close();
      server.close();
    }
  });
});
