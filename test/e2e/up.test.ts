import assert from "node:assert/strict";
import { execFile, spawn, spawnSync, type ChildProcess } from "node:child_process";
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { demoExamples } from "../../src/demo/examples.ts";
import { envoyBinary } from "../support/envoy.ts";
import { eventually } from "../support/eventually.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);

describe("end to end: `gatehouse up` as the README has it", function () {
  this.timeout(120_000);
  let folder: string;
  let up: ChildProcess;
  let stdout = "";
  let url: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "gatehouse-up-"));
    await cp(join(ROOT, "policies"), join(folder, "policies"), { recursive: true });
    await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
    up = spawn(process.execPath, [join(ROOT, "bin/gatehouse.js"), "up", "--port", "0", "--admin-port", "0"], {
      cwd: folder,
      env: { ...process.env, ENVOY_BIN: await envoyBinary() },
      stdio: ["ignore", "pipe", "inherit"],
    });
    up.stdout?.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
    url = await eventually(
      "the ready line",
      () => /^gatehouse gateway ready on (http\S+)$/m.exec(stdout)?.[1],
      60_000,
    );
    await eventually("all that it prints", () => stdout.includes("Ctrl-C"));
  });

  after(async () => {
    const ended = new Promise((resolve) => up.once("exit", resolve));
    up.kill("SIGINT");
    assert.equal(await ended, 0);
    await rm(folder, { recursive: true });
  });

  it("prints examples that work as it says", async () => {
    const cli = `${process.execPath} ${join(ROOT, "bin/gatehouse.js")}`;
    const noCurl = spawnSync("curl", ["--version"]).error !== undefined;
    const curl = noCurl ? `${process.execPath} ${join(ROOT, "test/support/curl.ts")} ` : "curl ";
    for (const { title, command, expect } of demoExamples(url)) {
      assert.ok(stdout.includes(command), title);
      const line = command
        .replaceAll("npx gatehouse", cli)
        .replace(/^curl /, curl)
        .replace(/^npx node /, `${process.execPath} `);
      const { stdout: answer } = await run("sh", ["-c", line], { cwd: folder });
      if (expect.status !== undefined)
        assert.match(answer, new RegExp(`^HTTP/1.1 ${expect.status} `), `${title}: ${answer}`);
      if (expect.absent !== undefined) assert.ok(!answer.includes(expect.absent), `${title}: ${answer}`);
      assert.ok(answer.includes(expect.body), `${title}: ${answer}`);
    }
    const records = await eventually("the records", async () => {
      const lines = (await readFile(join(folder, ".gatehouse", "audit.log"), "utf8")).trim().split("\n");
      return lines.length >= demoExamples(url).length ? lines : undefined;
    });
    // decisions, and what became of those that had something left to do
    for (const line of records) assert.match(line, /"(?:decision|event)":/);
  });

  it("has a first policy of one's own in force a moment later", async () => {
    const readme = await readFile(join(ROOT, "README.md"), "utf8");
    const rule = /```yaml\n( {2}- name: only-finance-exports\n[^`]*)```/.exec(readme)?.[1];
    assert.ok(rule !== undefined, "the README's rule");
    const cli = [join(ROOT, "bin/gatehouse.js")];
    const path = join(folder, "policies", "default.yaml");
    const text = await readFile(path, "utf8");
    await writeFile(path, text.replace(/^web_policies:/m, `${rule}\nweb_policies:`));
    await run(process.execPath, [...cli, "policy", "validate"], { cwd: folder });

    const { stdout: token } = await run(
      process.execPath,
      [...cli, "demo", "token", "--department", "finance"],
      { cwd: folder },
    );
    await eventually("the rule", async () => {
      const answer = await fetch(`${url}/api/exports/2026`, {
        headers: { authorization: `Bearer ${token.trim()}` },
      });
      return answer.status === 404; // the application has no such page: the request went through
    });
    const explained = await run(
      process.execPath,
      [...cli, "policy", "explain", "-r", "GET /api/exports/2026", "-u", '{"department":"sales"}'],
      { cwd: folder },
    );
    assert.match(explained.stdout, /^DENY \(403\) CONDITION_FALSE/);
    assert.match(explained.stdout, /user\.department is "sales"/);
  });
});

describe("end to end: a port that is taken", function () {
  this.timeout(60_000);

  it("ends `up` with a failure and leaves no process behind", async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    const { port } = taken.address() as AddressInfo;
    const folder = await mkdtemp(join(tmpdir(), "gatehouse-taken-"));
    const up = spawn(
      process.execPath,
      [join(ROOT, "bin/gatehouse.js"), "up", "--port", "0", "--admin-port", String(port)],
      {
        cwd: folder,
        env: { ...process.env, ENVOY_BIN: await envoyBinary() },
        stdio: ["ignore", "ignore", "pipe"],
      },
    );
    let stderr = "";
    up.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    try {
      const ended = new Promise((resolve) => up.once("exit", resolve));
      assert.equal(await ended, 1);
      assert.match(stderr, /EADDRINUSE/);
    } finally {
      up.kill("SIGKILL");
      taken.close();
      await rm(folder, { recursive: true });
    }
  });
});
