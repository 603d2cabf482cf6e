import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startAuthorizers, type Authorizers } from "../../src/authorizers/server.ts";
import { createAuthority, type Authority, type KeyPair } from "../support/certificates.ts";
import { eventually } from "../support/eventually.ts";
import { rawGet, sendRaw } from "../support/raw-http.ts";

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

describe("authorizers: server with TLS", () => {
  let folder: string;
  let authority: Authority;
  let stranger: Authority;
  const open: Authorizers[] = [];

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "gatehouse-tls-"));
    [authority, stranger] = await Promise.all([createAuthority("ours"), createAuthority("theirs")]);
  });
  afterEach(() => Promise.all(open.splice(0).map((server) => server.close(0))));
  after(() => rm(folder, { recursive: true }));

  const write = async (pair: KeyPair) => {
    await writeFile(join(folder, "key.pem"), pair.privateKey);
    await writeFile(join(folder, "certificate.pem"), pair.certificate);
    await writeFile(join(folder, "ca.pem"), authority.certificate);
  };
  const start = async (callers: readonly string[], asksForCertificate = true) => {
    await write(await authority.issue("127.0.0.1"));
    const server = await startAuthorizers({
      listen: { host: "127.0.0.1", port: 0 },
      tls: {
        certificate: join(folder, "certificate.pem"),
        privateKey: join(folder, "key.pem"),
        ...(asksForCertificate && { clientCa: join(folder, "ca.pem") }),
      },
      ...{ callers, log, decisionTimeout: 1_000, tlsRefreshMs: 20 },
      doors: new Map([["/nginx", () => ({ status: 200, headers: [], body: "" })]]),
    });
    open.push(server);
    return server;
  };
  /** The status over a connection of its own, or the code with which it fails. */
  const ask = ({ port }: Authorizers, pair?: KeyPair, trusted = authority): Promise<number | string> =>
    new Promise((resolve) => {
      const call = request(
        {
          ...{ host: "127.0.0.1", port, path: "/nginx", agent: false, ca: trusted.certificate },
          ...(pair && { key: pair.privateKey, cert: pair.certificate }),
        },
        (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        },
      );
      call.on("error", (error: NodeJS.ErrnoException) => {
        resolve(error.code ?? error.message);
      });
      call.end();
    });

  it("admits a caller by the name in a certificate of the configured authority, and nobody else", async () => {
    const server = await start(["proxy.internal"]);
    assert.equal(await ask(server, await authority.issue("proxy.internal")), 200);
    assert.equal(await ask(server, await authority.issue("other.internal", "PROXY.internal")), 200);
    assert.equal(await ask(server, await authority.issue("other.internal")), 403);
    assert.equal(typeof (await ask(server, await stranger.issue("proxy.internal"))), "string");
    assert.equal(typeof (await ask(server)), "string", "without a certificate");
    await assert.rejects(sendRaw(server.port, rawGet("/nginx")), "without TLS");
  });

  it("admits a caller by its address over TLS without certificates of clients", async () => {
    assert.equal(await ask(await start(["127.0.0.1"], false)), 200);
    assert.equal(await ask(await start(["10.0.0.0/8"], false)), 403);
  });

  it("takes a renewed certificate without a restart", async () => {
    const server = await start(["127.0.0.1"], false);
    assert.notEqual(await ask(server, undefined, stranger), 200);
    await write(await stranger.issue("127.0.0.1"));
    await eventually("the new certificate", async () => (await ask(server, undefined, stranger)) === 200);
  });
});
