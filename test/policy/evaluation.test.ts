import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** The parsers, and what they are built with: a tenth of a second of every start. */
const COMPILER = ["chevrotain", "src/policy/syntax/index.ts", "src/policy/condition/parse.ts"];

/** The modules of the project that a module loads at its start, and the packages that these import. */
async function loadedBy(module: string): Promise<readonly string[]> {
  const { metafile } = await build({
    entryPoints: [module],
    absWorkingDir: ROOT,
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "node",
    packages: "external",
    logLevel: "silent",
  });
  const imported = Object.values(metafile.inputs).flatMap(({ imports }) => imports.map(({ path }) => path));
  return [...Object.keys(metafile.inputs), ...imported];
}

describe("what loads the compiler of policy sets", () => {
  it("is its own entry point", async () => {
    const loaded = await loadedBy("src/policy/index.ts");
    for (const part of COMPILER) assert.ok(loaded.includes(part), part);
  });

  for (const module of [
    "src/policy/evaluation.ts",
    "src/config/index.ts",
    "src/processes/gateway/worker.ts",
    "src/processes/control-plane/open-environment.ts",
  ])
    it(`is not ${module}`, async () => {
      const loaded = await loadedBy(module);
      assert.ok(loaded.includes(module));
      assert.deepEqual(
        COMPILER.filter((part) => loaded.includes(part)),
        [],
      );
    });
});
