import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, mkdir, readFile, symlink } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const CHECKOUT = fileURLToPath(new URL("../../", import.meta.url));
const run = promisify(execFile);
/** npm and Node.js of this machine, not those of the checkout. */
const PATH = (process.env["PATH"] ?? "")
  .split(delimiter)
  .filter((folder) => !folder.includes("node_modules"))
  .join(delimiter);

describe("cli: npx gatehouse", () => {
  it("runs under the Node.js of the checkout, without warnings, at its first call", async () => {
    const copy = await temporaryDirectory();
    for (const name of ["package.json", "bin"])
      await cp(join(CHECKOUT, name), join(copy, name), { recursive: true });
    await symlink(join(CHECKOUT, "src"), join(copy, "src"));
    await mkdir(join(copy, "node_modules", ".bin"), { recursive: true });
    await symlink(process.execPath, join(copy, "node_modules", ".bin", "node"));
    // npm looks at `engines` only when it links the package into its cache
    const env = { ...process.env, PATH, npm_config_cache: join(copy, "cache") };
    const { stdout, stderr } = await run("npx", ["--offline", "gatehouse", "--version"], { cwd: copy, env });
    assert.match(stdout, /^\d+\.\d+\.\d+\n$/);
    assert.doesNotMatch(stderr, /EBADENGINE|gatehouse/);
  });

  it("asks npm for no newer Node.js than the README does", async () => {
    const read = (name: string) => readFile(join(CHECKOUT, name), "utf8");
    const [, major = ""] = /You need Node\.js (\d+) or newer/.exec(await read("README.md")) ?? [];
    const { engines } = JSON.parse(await read("package.json")) as { engines: object };
    assert.deepEqual(engines, { node: `>=${major}` });
  });
});
