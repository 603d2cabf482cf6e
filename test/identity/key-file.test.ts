import assert from "node:assert/strict";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { IdentityOptions } from "../../src/identity/index.ts";
import { createSigner, createSubject, until, valueOf, type Signer, type Subject } from "./support.ts";

describe("identity: keys in a file", () => {
  let first: Signer;
  let second: Signer;
  let folder: string;
  let path: string;
  let subject: Subject;

  before(async () => {
    [first, second] = await Promise.all([createSigner("ES256", "first"), createSigner("ES256", "second")]);
  });
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "gatehouse-identity-"));
    path = join(folder, "jwks.json");
  });
  afterEach(async () => {
    subject.verifier.close();
    await rm(folder, { recursive: true });
  });

  const keySet = (...signers: Signer[]) =>
    JSON.stringify({ keys: signers.map((signer) => signer.publicJwk) });
  const start = async (options: Partial<IdentityOptions> = {}) => {
    subject = createSubject({ jwks: path, ...options });
    await subject.verifier.start();
    return subject.verifier;
  };
  const accepts = async (signer: Signer) => (await subject.verifier.verify(await signer.sign())).ok;
  const failures = () => valueOf(subject.metrics, "gatehouse_jwks_refresh_total", { result: "failed" });

  it("reads them", async () => {
    await writeFile(path, keySet(first));
    await start();
    assert.equal(await accepts(first), true);
    assert.equal(await accepts(second), false);
  });

  it("takes a file address for a path", async () => {
    await writeFile(path, keySet(first));
    await start({ jwks: pathToFileURL(path).href });
    assert.equal(await accepts(first), true);
  });

  it("notices a change, keeps the last good keys while the file is bad, and recovers", async () => {
    await writeFile(path, keySet(first));
    const verifier = await start();
    await writeFile(path, '{"keys":[');
    await until(async () => (await failures()) > 0, "a failed load");
    assert.match(verifier.status().lastError ?? "", /is not JSON/);
    assert.equal(await accepts(first), true);

    await writeFile(path, keySet(second));
    await until(() => verifier.status().generation === 2, "a load");
    assert.equal(verifier.status().lastError, undefined);
    assert.equal(await accepts(second), true);
    assert.equal(await accepts(first), false);
  });

  it("does not take keys into use that arrive after close", async () => {
    await writeFile(path, keySet(first));
    subject = createSubject({ jwks: path });
    const starting = subject.verifier.start();
    subject.verifier.close();
    await starting;
    assert.equal(subject.verifier.ready(), false);
  });

  it("notices a file that is put in its place", async () => {
    await writeFile(path, keySet(first));
    const verifier = await start();
    await writeFile(`${path}.new`, keySet(second));
    await rename(`${path}.new`, path);
    await until(() => verifier.status().generation === 2, "a load");
    assert.equal(await accepts(second), true);
  });

  it("notices changes by the refresh interval where nothing can be watched", async () => {
    const missing = join(folder, "later");
    path = join(missing, "jwks.json");
    const verifier = await start({ refreshIntervalMs: 20 });
    assert.equal(verifier.ready(), false);
    assert.match(verifier.status().lastError ?? "", /cannot open/);
    const { mkdir } = await import("node:fs/promises");
    await mkdir(missing);
    await writeFile(path, keySet(first));
    await until(() => verifier.ready(), "a load");
    assert.equal(await accepts(first), true);
  });

  it("keeps the last good keys when the file is gone, up to the stale limit", async () => {
    await writeFile(path, keySet(first));
    const verifier = await start({ maxStaleMs: 3_600_000 });
    await rm(path);
    await until(async () => (await failures()) > 0, "a failed load");
    assert.equal(await accepts(first), true);
    subject.skew = 3_700_000;
    assert.equal(verifier.ready(), false);
  });

  it("does not read a file without end", async () => {
    await writeFile(path, " ".repeat(4 * 1024 * 1024 + 1));
    const verifier = await start();
    assert.match(verifier.status().lastError ?? "", /larger than/);
  });

  it("does not take a folder for a file", async () => {
    path = folder;
    const verifier = await start();
    assert.equal(verifier.ready(), false);
    assert.match(verifier.status().lastError ?? "", /EISDIR/);
  });
});
