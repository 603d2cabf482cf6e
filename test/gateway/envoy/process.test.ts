import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, statSync } from "node:fs";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { askAdmin, envoyBootstrap, startEnvoy } from "../../../src/gateway/index.ts";
import type { EnvoyExit, StartEnvoyOptions } from "../../../src/gateway/index.ts";
import { envoyBinary } from "../../support/envoy.ts";
import { freePort } from "../../support/free-port.ts";
import { send, until } from "../support/client.ts";
import { configWith, startGateway } from "../support/gateway.ts";

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // a zombie still has its id
    return !/^State:\s+Z/m.test(
      existsSync(`/proc/${pid}/status`) ? readFileSync(`/proc/${pid}/status`, "utf8") : "",
    );
  } catch {
    return false;
  }
}

describe("envoy process", () => {
  let folder: string;
  let options: StartEnvoyOptions;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "gatehouse-"));
    options = {
      bootstrap: envoyBootstrap(configWith({}), { authzEndpoints: [{ address: "127.0.0.1", port: 1 }] }),
      binary: await envoyBinary(),
      runtimeDirectory: join(folder, "run"),
      log: silent,
      concurrency: 1,
    };
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it("serves once it has started, and is gone when it has stopped", async () => {
    const exits: EnvoyExit[] = [];
    const envoy = await startEnvoy({ ...options, onExit: (exit) => exits.push(exit) });
    assert.ok(envoy.listenPort > 0);
    assert.equal((await send(envoy.listenPort, "/")).status, 404);
    assert.ok("socketPath" in envoy.admin);
    assert.equal(statSync(envoy.admin.socketPath).mode & 0o777, 0o600);
    assert.equal(statSync(options.runtimeDirectory).mode & 0o777, 0o700);
    await Promise.all([envoy.stop(1000), envoy.stop(1000)]);
    assert.equal(isAlive(envoy.pid), false);
    assert.deepEqual(
      exits.map(({ expected }) => expected),
      [true],
    );
    assert.equal((await envoy.exited).expected, true);
  });

  it("takes the admin address that the configuration says", async () => {
    const port = await freePort();
    const config = configWith({ "gateway.envoy_admin": `127.0.0.1:${port}` });
    const bootstrap = envoyBootstrap(config, { authzEndpoints: [{ address: "127.0.0.1", port: 1 }] });
    const envoy = await startEnvoy({ ...options, bootstrap });
    assert.deepEqual(envoy.admin, { host: "127.0.0.1", port });
    assert.equal((await askAdmin(envoy.admin, "GET", "/ready")).status, 200);
    await envoy.stop(0);
  });

  it("tells of a death that nobody asked for", async () => {
    const exits: EnvoyExit[] = [];
    const envoy = await startEnvoy({ ...options, onExit: (exit) => exits.push(exit) });
    process.kill(envoy.pid, "SIGKILL");
    assert.deepEqual(await envoy.exited, { code: null, signal: "SIGKILL", expected: false });
    assert.equal(exits.length, 1);
    await envoy.stop(1000);
  });

  it("says why it does not start, and leaves nothing behind", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as AddressInfo;
    const config = configWith({ "gateway.listen_port": port });
    const bootstrap = envoyBootstrap(config, { authzEndpoints: [{ address: "127.0.0.1", port: 1 }] });
    try {
      await assert.rejects(startEnvoy({ ...options, bootstrap }), /exited \(code 1\)[^]*already in use/);
      await assert.rejects(startEnvoy({ ...options, binary: join(folder, "missing") }), /ENOENT/);
      await assert.rejects(startEnvoy({ ...options, bootstrap: { nonsense: 1 } }), /nonsense/);
    } finally {
      taken.close();
    }
  });

  it("gives up on one that never becomes ready", async () => {
    const binary = join(folder, "envoy");
    await writeFile(binary, `#!/bin/sh\necho $$ > ${join(folder, "pid")}\necho loading >&2\nexec sleep 60\n`);
    await chmod(binary, 0o755);
    const giveUp = async (startTimeout: number) => {
      try {
        await startEnvoy({ ...options, binary, startTimeout });
      } catch (error) {
        return String(error);
      }
      return "";
    };
    let said = "";
    // longer where the machine was so slow that the script had not come to say anything
    for (const startTimeout of [300, 3_000, 30_000])
      if (!said.includes("loading")) said = await giveUp(startTimeout);
    assert.match(said, /did not become ready:\nloading/);
    assert.equal(isAlive(Number(readFileSync(join(folder, "pid"), "utf8"))), false);
  });

  it("lets requests under way end, and stops at the bound where they do not", async () => {
    const gateway = await startGateway();
    try {
      let release = () => undefined as unknown;
      gateway.upstream.answer = (_, response) => {
        release = () => response.end("late");
      };
      const answer = send(gateway.port, "/slow");
      await until(() => gateway.upstream.seen.length === 1, "the request is under way");
      const stopped = gateway.envoy.stop(10_000);
      assert.equal(isAlive(gateway.envoy.pid), true);
      release();
      assert.equal((await answer).body, "late");
      await stopped;
      assert.equal(isAlive(gateway.envoy.pid), false);
    } finally {
      await gateway.stop();
    }
    const stuck = await startGateway();
    try {
      stuck.upstream.answer = () => undefined;
      const answer = send(stuck.port, "/slow").catch(() => "cut off");
      await until(() => stuck.upstream.seen.length === 1, "the request is under way");
      await stuck.envoy.stop(100);
      assert.equal(await answer, "cut off");
    } finally {
      await stuck.stop();
    }
  });

  it("does not outlive a parent that is killed with -9", async () => {
    const script = join(folder, "parent.mjs");
    await writeFile(
      script,
      `import { readFile } from "node:fs/promises";
       import { startEnvoy } from ${JSON.stringify(new URL("../../../src/gateway/index.ts", import.meta.url).href)};
       const log = { info() {}, warn() {}, error() {} };
       const options = JSON.parse(await readFile(process.argv[2], "utf8"));
       const envoy = await startEnvoy({ ...options, log });
       console.log(envoy.pid, envoy.listenPort);
       setInterval(() => {}, 1000);`,
    );
    const file = join(folder, "parent.json");
    await writeFile(file, JSON.stringify(options));
    const parent = spawn(process.execPath, [script, file], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    try {
      const [line] = (await once(parent.stdout, "data")) as [Buffer];
      const [pid = 0, port = 0] = line.toString().split(" ").map(Number);
      assert.equal((await send(port, "/")).status, 404);
      parent.kill("SIGKILL");
      await until(() => !isAlive(pid), "envoy is gone");
      await assert.rejects(send(port, "/"), /ECONNREFUSED/);
    } finally {
      parent.kill("SIGKILL");
    }
  });
});
