import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { cp, symlink } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { DEMO_POLICIES } from "./demo-policies.ts";
import { envoyBinary } from "./envoy.ts";
import { eventually } from "./eventually.ts";
import { assertDataAreIn, databaseDirectory, makeDataDirectory } from "./temporary-directory.ts";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
export const FREE_PORTS = ["--port", "--admin-port", "--api-port", "--sandbox-port"].flatMap((option) => [
  option,
  "0",
]);

/** A `gatehouse up` as a newcomer starts it. */
export interface RunningUp {
  /** Of the gateway. */
  readonly url: string;
  /** All that it has printed. */
  readonly stdout: string;
  /** Ctrl-C; it ends with 0. */
  stop(): Promise<void>;
}

/** A folder to start it in: what a checkout has that it reads. */
export async function upFolder(): Promise<string> {
  const folder = await databaseDirectory();
  await cp(DEMO_POLICIES, join(folder, "policies"), { recursive: true });
  await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
  await makeDataDirectory(join(folder, ".gatehouse"));
  return folder;
}

/** Starts it on free ports, and waits until it has said all. */
export async function startUp(folder: string): Promise<RunningUp> {
  const up = spawn(process.execPath, [join(ROOT, "bin/gatehouse.js"), "up", ...FREE_PORTS], {
    cwd: folder,
    // the machine may be busy
    env: { ...process.env, ENVOY_BIN: await envoyBinary(), GATEHOUSE_AUTHZ_DECISION_TIMEOUT: "15s" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise((resolve) => up.once("exit", resolve));
  let stdout = "";
  up.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  const url = await eventually(
    "the ready line",
    () => /^gatehouse gateway ready on (http\S+)$/m.exec(stdout)?.[1],
    100_000,
  );
  await eventually("all that it prints", () => stdout.includes("Ctrl-C"));
  await assertDataAreIn(join(folder, ".gatehouse"));
  return {
    url,
    stdout,
    async stop() {
      up.kill("SIGINT");
      assert.equal(await ended, 0);
    },
  };
}
