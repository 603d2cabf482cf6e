import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const ENTRY = new URL("../../../src/processes/lambda/handler.ts", import.meta.url).pathname;

/** The options of docs/deployment/aws.md, with the source in place of the package. */
export async function bundleFunction(code: string): Promise<{ directory: string; bytes: number }> {
  const directory = await temporaryDirectory();
  const source = join(directory, "authorizer.js");
  await writeFile(source, code);
  const { outputFiles } = await build({
    entryPoints: [source],
    bundle: true,
    write: false,
    minify: true,
    platform: "node",
    format: "esm",
    target: "node24",
    mainFields: ["module", "main"],
    alias: { "@gatehouse-access/gatehouse/aws-lambda": ENTRY },
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
    logLevel: "error",
  });
  const [bundle] = outputFiles;
  if (bundle === undefined) throw new Error("esbuild has written nothing");
  await writeFile(join(directory, "authorizer.mjs"), bundle.contents);
  return { directory, bytes: bundle.contents.length };
}
