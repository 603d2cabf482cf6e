import { strict as assert } from "node:assert";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { isAlive } from "../../src/storage/process-state.ts";
import { eventually } from "../support/eventually.ts";
import { environmentOfItsOwn } from "../support/temporary-directory.ts";

const SCRIPT = fileURLToPath(new URL("support/user-of-test-database.ts", import.meta.url));

describe("storage: databases of tests", () => {
  for (const signal of ["SIGKILL", "SIGINT"] as const) {
    it(`leave nothing behind when the tests end by ${signal}`, async () => {
      const child = spawn(process.execPath, [SCRIPT], {
        stdio: ["ignore", "pipe", "inherit"],
        env: environmentOfItsOwn(),
      });
      const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
      const { pid, folder, url } = JSON.parse(line) as { pid: number; folder: string; url: string };
      const home = dirname(new URL(url).searchParams.get("host")!);
      const shared = Number(
        (await readFile(join(home, "cluster", "data", "postmaster.pid"), "utf8")).split("\n")[0],
      );
      assert.ok((await isAlive(pid)) && (await isAlive(shared)) && pid !== shared);
      child.kill(signal);
      await eventually(
        "the end of both servers",
        async () => !(await isAlive(pid)) && !(await isAlive(shared)),
      );
      await eventually("the end of their folder", () => !existsSync(dirname(folder)));
    });
  }
});
