import assert from "node:assert/strict";
import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { credentials, status } from "@grpc/grpc-js";
import { HealthState } from "../../src/extauthz/health.ts";
import { startAuthzServer, type AuthzServer, type TlsFiles } from "../../src/extauthz/server.ts";
import { createAuthority } from "./support/certificates.ts";
import { codeOf, connectClient, until, type TestClient } from "./support/client.ts";

type Pair = Pick<TlsFiles, "certificate" | "privateKey">;

describe("extauthz: server with TLS", () => {
  let folder: string;
  let authority: Awaited<ReturnType<typeof createAuthority>>;
  let stranger: Awaited<ReturnType<typeof createAuthority>>;
  let serverPair: Pair;
  let clientPair: Pair;
  let strangersPair: Pair;
  const servers: AuthzServer[] = [];
  const clients: TestClient[] = [];
  const logged: string[] = [];
  const request = Buffer.from("bytes");

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "gatehouse-tls-"));
    authority = await createAuthority(folder, "authority");
    stranger = await createAuthority(folder, "stranger");
    serverPair = await authority.issue("server");
    clientPair = await authority.issue("client");
    strangersPair = await stranger.issue("client");
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.close();
    await Promise.all(servers.splice(0).map((server) => server.close(0)));
    logged.length = 0;
  });
  after(() => rm(folder, { recursive: true }));

  const start = async (tls: TlsFiles, tlsRefreshMs = 3_600_000) => {
    const say = (_object: object, message: string) => void logged.push(message);
    const log = { info: say, warn: say, error: say };
    const listen = { host: "127.0.0.1", port: 0 };
    const health = new HealthState();
    const server = await startAuthzServer({
      listen,
      tls,
      tlsRefreshMs,
      check: (bytes) => bytes,
      health,
      log,
    });
    servers.push(server);
    return server;
  };
  /** The code that a call over a fresh connection ends with. */
  const attempt = async (server: AuthzServer, trusted: string, pair?: Pair) => {
    const [ca, key, cert] = await Promise.all([
      readFile(trusted),
      pair ? readFile(pair.privateKey) : null,
      pair ? readFile(pair.certificate) : null,
    ]);
    const client = connectClient(`127.0.0.1:${server.port}`, credentials.createSsl(ca, key, cert));
    clients.push(client);
    return codeOf(client.check(request, { deadlineMs: 3_000 }));
  };

  it("serves clients that trust its certificate", async () => {
    const server = await start(serverPair);
    assert.equal(await attempt(server, authority.certificate), status.OK);
    assert.equal(await attempt(server, stranger.certificate), status.UNAVAILABLE);
  });

  it("does not speak plain text", async () => {
    const { port } = await start(serverPair);
    const plain = connectClient(`127.0.0.1:${port}`);
    clients.push(plain);
    assert.equal(await codeOf(plain.check(request, { deadlineMs: 1_000 })), status.UNAVAILABLE);
  });

  it("with a client CA, refuses clients without a certificate and with a stranger's", async () => {
    const server = await start({ ...serverPair, clientCa: authority.certificate });
    assert.equal(await attempt(server, authority.certificate, clientPair), status.OK);
    assert.equal(await attempt(server, authority.certificate), status.UNAVAILABLE);
    assert.equal(await attempt(server, authority.certificate, strangersPair), status.UNAVAILABLE);
  });

  it("takes up changed files for new connections, and keeps the old ones while the new are unusable", async () => {
    const own = {
      certificate: join(folder, "own.crt"),
      privateKey: join(folder, "own.key"),
      clientCa: join(folder, "own-ca.crt"),
    };
    const put = async (pair: Pair, ca: string) => {
      await copyFile(pair.certificate, own.certificate);
      await copyFile(pair.privateKey, own.privateKey);
      await copyFile(ca, own.clientCa);
    };
    await put(serverPair, authority.certificate);
    const server = await start(own, 20);
    assert.equal(await attempt(server, authority.certificate, clientPair), status.OK);

    await writeFile(own.certificate, "half of a certifi");
    await until(() => logged.length > 0, "the failure is logged");
    assert.match(logged[0] ?? "", /TLS files/);
    assert.equal(await attempt(server, authority.certificate, clientPair), status.OK);

    await put(await stranger.issue("server"), stranger.certificate);
    await until(
      async () => (await attempt(server, stranger.certificate, strangersPair)) === status.OK,
      "the new files",
    );
    assert.equal(await attempt(server, authority.certificate, clientPair), status.UNAVAILABLE);
    assert.equal(await attempt(server, stranger.certificate, clientPair), status.UNAVAILABLE);
  });

  it("does not start on files that cannot be used", async () => {
    const garbage = join(folder, "garbage.pem");
    await writeFile(garbage, "garbage");
    const missing = join(folder, "missing.pem");
    for (const tls of [
      { ...serverPair, certificate: missing },
      { ...serverPair, certificate: garbage },
      { ...serverPair, privateKey: garbage },
      { ...serverPair, privateKey: clientPair.privateKey },
      { ...serverPair, clientCa: garbage },
      { ...serverPair, clientCa: missing },
    ]) {
      await assert.rejects(start(tls));
    }
  });
});
