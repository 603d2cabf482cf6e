import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const run = promisify(execFile);
const VALIDATOR = "internal/gatewayapi/luavalidator";
const ownFile = (name: string) => fileURLToPath(new URL(`./lua-validator/${name}`, import.meta.url));

export type LuaValidation = "Strict" | "InsecureSyntax";

/**
 * Compiles the validator of Envoy Gateway, unchanged, under its own module path: the package is internal, so nobody else may
 * import it.
 *
 * @param gateway - the folder of the module github.com/envoyproxy/gateway
 * @returns what it says about scripts: nothing about those that it accepts
 */
export async function luaValidator(
  gateway: string,
): Promise<(mode: LuaValidation, scripts: readonly string[]) => Promise<readonly string[]>> {
  const folder = await temporaryDirectory();
  const manifest = await readFile(join(gateway, "go.mod"), "utf8");
  const needed = (pattern: RegExp) => pattern.exec(manifest)?.[0] ?? assert.fail(String(pattern));
  const files = {
    "go.mod": [
      "module github.com/envoyproxy/gateway",
      needed(/^go .*$/m),
      `require ${needed(/github\.com\/yuin\/gopher-lua \S+/)}`,
      "",
    ].join("\n"),
    "go.sum": await readFile(join(gateway, "go.sum"), "utf8"),
    "main.go": await readFile(ownFile("main.go.txt"), "utf8"),
    "api/v1alpha1/api.go": await readFile(ownFile("api.go.txt"), "utf8"),
  };
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  for (const name of ["lua_validator.go", "mocks.lua", "security.lua"])
    await cp(join(gateway, VALIDATOR, name), join(folder, VALIDATOR, name), { recursive: true });
  const binary = join(folder, "validator");
  await run("go", ["build", "-o", binary, "."], { cwd: folder });
  return async (mode, scripts) => {
    const asked = run(binary, { maxBuffer: 1e8 });
    asked.child.stdin?.end(JSON.stringify({ mode, scripts }));
    return JSON.parse((await asked).stdout) as string[];
  };
}
