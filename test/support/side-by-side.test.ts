import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { environmentOfItsOwn, temporaryDirectory } from "./temporary-directory.ts";

const MOCHA = fileURLToPath(new URL("../../node_modules/mocha/bin/mocha.js", import.meta.url));
const SIDE_BY_SIDE = fileURLToPath(new URL("side-by-side.ts", import.meta.url));
/** As long as a busy machine may take to write down what was covered; mocha waits for a second. */
const SLOW_END = `process.on("exit", () => { for (const end = Date.now() + 2500; Date.now() < end; ); });`;

describe("test files side by side", () => {
  it("write down what they cover, however long their processes take to end", async () => {
    const directory = await temporaryDirectory();
    const files = ["a.mjs", "b.mjs"].map((name) => join(directory, name));
    for (const file of files) await writeFile(file, `${SLOW_END} it("passes", () => undefined);`);
    const coverage = join(directory, "coverage");
    const args = ["--no-config", "--parallel", "--jobs", "2", "--require", SIDE_BY_SIDE, ...files];
    await promisify(execFile)(process.execPath, [MOCHA, ...args], {
      cwd: directory,
      env: { ...environmentOfItsOwn(), NODE_V8_COVERAGE: coverage },
    });
    const written = await Promise.all(
      (await readdir(coverage)).map((name) => readFile(join(coverage, name), "utf8")),
    );
    for (const file of files)
      assert.ok(
        written.some((text) => text.includes(file)),
        file,
      );
  });
});
