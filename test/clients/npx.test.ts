import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { cp, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { ownCommand } from "../../src/cli/own-command.ts";
import { isAlive } from "../../src/storage/process-state.ts";
import { DEMO_POLICIES } from "../support/demo-policies.ts";
import { envoyBinary } from "../support/envoy.ts";
import { eventually } from "../support/eventually.ts";
import { gatehouse } from "../cli/support.ts";
import { assertDataAreIn, databaseDirectory, makeDataDirectory } from "../support/temporary-directory.ts";

const CHECKOUT = fileURLToPath(new URL("../../", import.meta.url));
const run = promisify(execFile);
/** npm and Node.js of this machine, not those of the checkout. */
const PATH = (process.env["PATH"] ?? "")
  .split(delimiter)
  .filter((folder) => !folder.includes("node_modules"))
  .join(delimiter);

/** What `npx gatehouse` needs of a checkout, in a folder of its own. */
async function checkout(scripts: Readonly<Record<string, string>> = {}) {
  const copy = await databaseDirectory();
  const data = join(copy, ".gatehouse");
  await makeDataDirectory(data);
  const manifest = JSON.parse(await readFile(join(CHECKOUT, "package.json"), "utf8")) as object;
  await writeFile(join(copy, "package.json"), JSON.stringify({ ...manifest, scripts }));
  await cp(join(CHECKOUT, "bin"), join(copy, "bin"), { recursive: true });
  await symlink(join(CHECKOUT, "src"), join(copy, "src"));
  await cp(DEMO_POLICIES, join(copy, "policies"), { recursive: true });
  await mkdir(join(copy, "node_modules", ".bin"), { recursive: true });
  await symlink(process.execPath, join(copy, "node_modules", ".bin", "node"));
  // npm looks at `engines` only when it links the package into its cache
  const env = {
    ...process.env,
    PATH,
    npm_config_cache: join(copy, "cache"),
    npm_config_offline: "true",
  } satisfies NodeJS.ProcessEnv;
  return { copy, data, env };
}

interface Process {
  readonly pid: number;
  readonly line: string;
}

/** Every process below one. */
async function below(parent: number): Promise<Process[]> {
  const { stdout } = await run("ps", ["-eo", "pid=,ppid=,args="]);
  const all = stdout.split("\n").flatMap((text) => {
    const [, pid, ppid, line = ""] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(text) ?? [];
    return pid === undefined ? [] : [{ pid: Number(pid), ppid: Number(ppid), line }];
  });
  const found = (of: number): Process[] =>
    all.filter(({ ppid }) => ppid === of).flatMap((child) => [child, ...found(child.pid)]);
  return found(parent);
}

describe("cli: npx gatehouse", () => {
  it("runs under the Node.js of the checkout, without warnings, at its first call", async () => {
    const { copy, env } = await checkout();
    const { stdout, stderr } = await run("npx", ["gatehouse", "--version"], { cwd: copy, env });
    assert.match(stdout, /^\d+\.\d+\.\d+\n$/);
    assert.doesNotMatch(stderr, /EBADENGINE|gatehouse/);
  });

  it("is published under a name of its own, with the command `gatehouse`", async () => {
    const manifest = JSON.parse(await readFile(join(CHECKOUT, "package.json"), "utf8")) as {
      name: string;
      bin: object;
    };
    assert.match(manifest.name, /^@[a-z-]+\/gatehouse$/);
    assert.deepEqual(manifest.bin, { gatehouse: "bin/gatehouse.js" });
    assert.equal(ownCommand(CHECKOUT), "npx gatehouse");
    assert.equal(ownCommand(join(CHECKOUT, "docs", "decisions")), "npx gatehouse");
    // elsewhere that would be somebody else's package
    for (const folder of [tmpdir(), join(CHECKOUT, ".."), `${CHECKOUT.replace(/\/$/, "")}-2`])
      assert.equal(ownCommand(folder), `${process.execPath} ${join(CHECKOUT, "bin/gatehouse.js")}`);
    const helped = await gatehouse(["--help"]);
    assert.doesNotMatch(helped.stdout, /npx/);
  });
});

describe("cli: a signal to npm or npx", () => {
  const UP = ["up", "--port", "0", "--admin-port", "0", "--api-port", "0", "--sandbox-port", "0"];
  const CONTROL_PLANE = ["control-plane", "--port", "0", "--sandbox-port", "0", "--admin-port", "0"];
  /** The sandbox, which takes most of the time of a first start, has no process of its own. */
  const WITHOUT_SANDBOX = { GATEHOUSE_API_ENVIRONMENTS: "production" };
  const ALL = ["postgres", "envoy", "processes/gateway/worker.ts"];
  const cases = [
    ["SIGTERM to npx alone", ["npx", "gatehouse", ...UP], "Press Ctrl-C to stop", ALL],
    ["SIGTERM to npm alone", ["npm", "run", "demo"], "plane ready on", ["postgres"]],
    // a start under way
    ["SIGTERM to npm alone", ["npm", "exec", "gatehouse", "control-plane"], "migration 0001", ["postgres"]],
    // what Ctrl-C in a terminal does
    ["SIGINT to all", ["npx", "gatehouse", ...CONTROL_PLANE], "plane ready on", ["postgres"]],
  ] as const;
  for (const [signal, [command, ...args], ready, parts] of cases) {
    it(`ends everything that was started: ${signal}, ${[command, ...args].join(" ")}`, async () => {
      const { copy, data, env } = await checkout({
        demo: ["node bin/gatehouse.js", ...CONTROL_PLANE].join(" "),
      });
      const child = spawn(command, args, {
        cwd: copy,
        env: {
          ...env,
          ...(parts !== ALL && WITHOUT_SANDBOX),
          GATEHOUSE_API_PORT: "0",
          GATEHOUSE_API_SANDBOX_PORT: "0",
          GATEHOUSE_TELEMETRY_CONTROL_PLANE_PORT: "0",
          ENVOY_BIN: await envoyBinary(),
        },
        stdio: ["ignore", "pipe", "pipe"],
        detached: true,
      });
      let said = "";
      for (const stream of [child.stdout, child.stderr])
        stream.on("data", (chunk: Buffer) => (said += chunk.toString()));
      const ended = new Promise((resolve) => child.once("exit", resolve));
      await eventually("the start", () => said.includes(ready), 150_000);
      await assertDataAreIn(data);
      assert.ok(child.pid !== undefined);
      const started = await below(child.pid);
      const lines = started.map(({ line }) => line).join("\n");
      for (const part of parts) assert.ok(lines.includes(part), `${part} in ${lines}`);
      if (signal === "SIGINT to all") process.kill(-child.pid, "SIGINT");
      else child.kill("SIGTERM");
      await ended;
      await eventually(
        "the end of everything",
        async () => {
          const left = await Promise.all(started.map(({ pid }) => isAlive(pid)));
          return !left.includes(true);
        },
        100_000,
      );
    });
  }

  it("that comes twice at once, from a terminal and from npm, is one: what was started ends in good order", async () => {
    const { copy, data, env } = await checkout();
    const child = spawn(process.execPath, ["bin/gatehouse.js", ...CONTROL_PLANE], {
      cwd: copy,
      env: { ...env, ...WITHOUT_SANDBOX },
    });
    const ended = new Promise((resolve) => child.once("exit", resolve));
    let said = "";
    child.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
    await eventually("the start", () => said.includes("ready on"), 150_000);
    await assertDataAreIn(data);
    const started = await below(child.pid ?? 0);
    child.kill("SIGINT");
    child.kill("SIGTERM");
    assert.equal(await ended, 0);
    for (const { pid, line } of started) assert.ok(!(await isAlive(pid)), line);
  });

  it("is what ends them: without npm, a parent may end", async () => {
    const { copy, data, env } = await checkout();
    const line = `"${process.execPath}" bin/gatehouse.js ${CONTROL_PLANE.join(" ")} >out 2>err & echo $!`;
    const own = { ...env, ...WITHOUT_SANDBOX, npm_lifecycle_event: undefined };
    const pid = Number((await run("sh", ["-c", line], { cwd: copy, env: own })).stdout);
    try {
      const printed = () => readFile(join(copy, "out"), "utf8");
      await eventually("the start", async () => (await printed()).includes("ready on"), 150_000);
      await assertDataAreIn(data);
      assert.ok(await isAlive(pid));
    } finally {
      process.kill(pid, "SIGTERM");
    }
    await eventually("its end", async () => !(await isAlive(pid)), 100_000);
  });
});

describe("cli: what it needs", () => {
  it("asks npm for no newer Node.js than the README does", async () => {
    const read = (name: string) => readFile(join(CHECKOUT, name), "utf8");
    const [, major = ""] = /You need Node\.js (\d+) or newer/.exec(await read("README.md")) ?? [];
    const { engines } = JSON.parse(await read("package.json")) as { engines: object };
    assert.deepEqual(engines, { node: `>=${major}` });
  });
});
