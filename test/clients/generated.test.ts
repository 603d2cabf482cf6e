import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { startWholeControl, type WholeControl } from "../support/whole-control.ts";
import { installPythonPackages } from "./support/python-packages.ts";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const support = (name: string) => fileURLToPath(new URL(`./support/${name}`, import.meta.url));

/** What a user would do with the document: generate a client, compile it, and call the API with it. */
describe("clients generated from the OpenAPI document", function () {
  this.timeout(300_000);
  let control: WholeControl;
  let key: string;
  let folder: string;
  let document: string;

  before(async () => {
    control = await startWholeControl({ settings: { environment: "sandbox" } });
    key = (await control.keyOf())["authorization"]!.replace("Bearer ", "");
    folder = await temporaryDirectory();
    document = join(folder, "openapi.json");
    await writeFile(document, await (await fetch(`${control.url}/v1/openapi.json`)).text());
  });
  after(() => control.close());

  it("openapi-ts: compiles in strict mode, has a name for everything, and does a round trip", async () => {
    await run(
      process.execPath,
      [
        join(ROOT, "node_modules/@hey-api/openapi-ts/bin/run.js"),
        "-i",
        document,
        "-o",
        join(folder, "client"),
      ],
      { cwd: folder },
    );
    const types = await readFile(join(folder, "client/types.gen.ts"), "utf8");
    for (const name of ["Customer", "Policy", "User", "Session", "Webhook", "ApiKey", "CustomerPage"])
      assert.match(types, new RegExp(`^export type ${name} = `, "m"));
    // names that the generator made up for schemas without one
    assert.deepEqual(types.match(/^export type \w*(?:DataItem|Inline\w*) = /gm) ?? [], []);
    const main = join(folder, "round-trip.ts");
    // not a `.ts` here, for what it imports is not here
    await copyFile(support("generated-round-trip.ts.txt"), main);
    const options = [
      "--noEmit",
      "--strict",
      "--noUncheckedIndexedAccess",
      "--skipLibCheck",
      "--target",
      "es2023",
    ];
    const modules = ["--module", "esnext", "--moduleResolution", "bundler", "--types", "node"];
    const roots = ["--typeRoots", join(ROOT, "node_modules/@types"), "--ignoreConfig"];
    const compiled = await run(
      process.execPath,
      [join(ROOT, "node_modules/typescript/bin/tsc6"), ...options, ...modules, ...roots, main],
      { cwd: folder },
    ).catch((error: unknown) => error as { stdout: string });
    assert.equal(compiled.stdout, "");
    const bundle = join(folder, "round-trip.mjs");
    await build({ entryPoints: [main], outfile: bundle, bundle: true, platform: "node", format: "esm" });
    const { stdout } = await run(process.execPath, [bundle, control.url, key]);
    assert.equal(stdout, "done\n");
  });

  it("openapi-python-client: takes every schema, compiles, and does a round trip", async () => {
    const packages = await installPythonPackages(
      "openapi-client",
      support("openapi-client-requirements.txt"),
    );
    const env = { ...process.env, PYTHONPATH: `${packages}:${join(folder, "python")}` };
    const generated = await run(
      "python3",
      [
        ...["-m", "openapi_python_client", "generate", "--meta", "none"],
        ...["--path", document, "--output-path", join(folder, "python/gatehouse_client")],
      ],
      { cwd: folder, env },
    );
    // it leaves out what it cannot read, with a warning
    assert.doesNotMatch(generated.stdout, /WARNING|Failure to process|removal/);
    await run("python3", ["-m", "compileall", "-q", join(folder, "python")]);
    const { stdout } = await run("python3", [support("generated_round_trip.py"), control.url, key], { env });
    assert.equal(stdout, "done\n");
  });
});
