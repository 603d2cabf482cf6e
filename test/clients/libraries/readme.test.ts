import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { nodeProject, packNodeClient } from "./support/node-project.ts";
import { pythonEnvironment, pythonPackages, pythonProject } from "./support/python-project.ts";
import { blocksOf, NODE_BLOCKS, PYTHON_BLOCKS, type Around, type Block } from "./support/readme-blocks.ts";
import { startStage, type OpenWorld, type Stage } from "./support/stage.ts";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const NODE_README = blocksOf(join(ROOT, "clients/node/README.md"), ["js", "ts"]);
const PYTHON_README = blocksOf(join(ROOT, "clients/python/README.md"), ["py", "python"]);

describe("the code in the READMEs of the client libraries", function () {
  this.timeout(600_000);
  let stage: Stage;
  let open: OpenWorld;
  /** Of the control plane that signs users in. */
  let world: NodeJS.ProcessEnv;

  before(async () => {
    stage = await startStage();
    open = await stage.open();
    const { keys, issuer } = open.world.environments.sandbox;
    world = { GATEHOUSE_API_KEY: keys["full"], GATEHOUSE_URL: issuer, STAGE: open.world.stage };
  });
  after(async () => {
    await open.close();
    await stage.close();
  });

  describe("Node.js", () => {
    let project: string;
    const fileOf = ({ name }: Block) => `${name.replaceAll(" ", "-")}.mts`;

    before(async () => {
      project = await nodeProject(await packNodeClient());
      for (const name of ["@types", "express"])
        await symlink(join(ROOT, "node_modules", name), join(project, "node_modules", name));
      for (const block of NODE_README)
        await writeFile(join(project, fileOf(block)), program(block, NODE_BLOCKS));
    });

    it("has its types", async () => {
      const tsc = join(ROOT, "node_modules/typescript/bin/tsc6");
      const strict = ["--noEmit", "--strict", "--exactOptionalPropertyTypes", "--ignoreConfig"];
      const language = [
        "--module",
        "nodenext",
        "--target",
        "es2022",
        "--lib",
        "es2023,dom",
        "--types",
        "node",
      ];
      const args = [tsc, ...strict, ...language, ...NODE_README.map(fileOf)];
      await told(run(process.execPath, args, { cwd: project }));
    });

    itRuns(NODE_README, NODE_BLOCKS, (block) =>
      run(process.execPath, [fileOf(block)], { cwd: project, env: { ...process.env, ...world } }),
    );
  });

  describe("Python", () => {
    let folder: string;
    let env: NodeJS.ProcessEnv;
    let folders: readonly string[];
    const fileOf = ({ name }: Block) => `${name.replaceAll(" ", "_").toLowerCase()}.py`;

    before(async () => {
      folder = join(await temporaryDirectory(), "python");
      await mkdir(folder);
      folders = [...(await pythonProject()), await pythonPackages("middleware")];
      env = pythonEnvironment(...folders);
      for (const block of PYTHON_README)
        await writeFile(join(folder, fileOf(block)), program(block, PYTHON_BLOCKS));
    });

    it("has its types", async () => {
      const files = PYTHON_README.map(fileOf);
      const mypy = ["-m", "mypy", "--strict", "--python-version", "3.10", "--scripts-are-modules"];
      // one at a time: each is a program
      const typed = pythonEnvironment(...folders, await pythonPackages("typing"));
      await told(run("python3", [...mypy, "--cache-dir", ".mypy", ...files], { cwd: folder, env: typed }));
      const config = { include: files, typeCheckingMode: "strict", extraPaths: folders };
      await writeFile(join(folder, "pyrightconfig.json"), JSON.stringify(config));
      const pyright = [join(ROOT, "node_modules/pyright/index.js"), "-p", "pyrightconfig.json"];
      await told(run(process.execPath, pyright, { cwd: folder, env: { ...process.env, ...typed } }));
    });

    itRuns(PYTHON_README, PYTHON_BLOCKS, (block) =>
      run("python3", [fileOf(block)], { cwd: folder, env: { ...env, ...world } }),
    );
  });

  function itRuns(
    readme: readonly Block[],
    around: Readonly<Record<string, Around>>,
    start: (block: Block) => Promise<{ readonly stdout: string }>,
  ): void {
    it("is all there", () => {
      assert.deepEqual(readme.map(({ name }) => name).sort(), Object.keys(around).sort());
    });
    for (const block of readme)
      it(`${block.name}: does what it says`, async () => {
        assert.match((await told(start(block))).stdout, around[block.name]?.prints ?? /$^/);
      });
  }
});

function program({ name, code }: Block, around: Readonly<Record<string, Around>>): string {
  const { before = "", after = "" } = around[name] ?? {};
  return [before, code, after].join("\n");
}

/** Ends a program's failure with what it printed. */
async function told<T>(running: Promise<T>): Promise<T> {
  return running.catch((error: unknown) => {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${stdout}${stderr}`, { cause: error });
  });
}
