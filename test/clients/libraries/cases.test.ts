import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { runCases, runsOf, type Mode } from "./support/cases.ts";
import { NODE_RUNTIMES, nodeProject, packNodeClient } from "./support/node-project.ts";
import { pythonEnvironment, pythonProject } from "./support/python-project.ts";
import { startStage, type Stage } from "./support/stage.ts";

const run = promisify(execFile);
const PYTHON_RUNNER = fileURLToPath(new URL("../../../clients/cases/run.py", import.meta.url));
const clientFile = (name: string) => fileURLToPath(new URL(`../../../clients/${name}`, import.meta.url));

/** How the cases are run in an installed library. */
interface Runner {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
}

describe("client libraries, installed as they are published", function () {
  this.timeout(900_000);
  let stage: Stage;
  let project: string;
  let python: NodeJS.ProcessEnv;

  before(async () => {
    const starting = startStage();
    // what else fails first is told first
    starting.catch(() => undefined);
    project = await nodeProject(await packNodeClient());
    python = pythonEnvironment(...(await pythonProject()));
    stage = await starting;
  });
  after(() => stage.close());

  const runners: readonly (readonly [name: string, runner: () => Runner])[] = [
    ...NODE_RUNTIMES.map(
      ({ program, version }) =>
        [`Node.js ${version}`, () => ({ command: [program, "run.mjs"], cwd: project })] as const,
    ),
    ...["sync", "async"].map(
      (flavour) =>
        [
          `Python (${flavour})`,
          () => ({ command: ["python3", PYTHON_RUNNER, flavour], cwd: project, env: python }),
        ] as const,
    ),
  ];

  const results = new Map<string, Promise<ReadonlyMap<string, string | null>>>();
  before(() => {
    // at the same time: most of it is waiting
    for (const [name, runner] of runners) {
      for (const mode of ["real", "fake"] as const) {
        const result = runIn(runner(), mode);
        result.catch(() => undefined);
        results.set(`${name} ${mode}`, result);
      }
    }
  });

  async function runIn({ command, ...options }: Runner, mode: Mode) {
    const opened = await stage.open();
    try {
      return await runCases(command, options, opened.world, mode);
    } finally {
      await opened.close();
    }
  }

  for (const [name] of runners) {
    for (const mode of ["real", "fake"] as const) {
      describe(`${name}, ${mode === "real" ? "a real control plane" : "the in-memory fake"}`, () => {
        for (const [environment, title] of runsOf(mode)) {
          it(`${title} (${environment})`, async () => {
            const problem = (await results.get(`${name} ${mode}`))?.get(`${environment} ${title}`);
            assert.equal(problem, null, problem ?? "it was not run");
          });
        }
      });
    }
  }

  it("the quick start of each README does what it says", async () => {
    const { keys, issuer } = (await stage.open()).world.environments.sandbox;
    const given = { GATEHOUSE_API_KEY: keys["full"], GATEHOUSE_URL: issuer };
    await writeFile(join(project, "quick.mjs"), quickStart("node/README.md", "js"));
    const node = await run(process.execPath, ["quick.mjs"], {
      cwd: project,
      env: { ...process.env, ...given },
    });
    assert.match(node.stdout, /^created cus_\w+\n(?:.+\n)+no such customer\n$/);
    for (const index of [0, 1]) {
      await writeFile(join(project, "quick.py"), quickStart("python/README.md", "python", index));
      const printed = await run("python3", ["quick.py"], { cwd: project, env: { ...python, ...given } });
      assert.match(printed.stdout, /^created cus_\w+\n(?:.+\n)+no such customer\n$/);
    }
  });
});

/** The code of a README's first blocks of a language. */
function quickStart(file: string, language: string, index = 0): string {
  const blocks = [...readFileSync(clientFile(file), "utf8").matchAll(/^```(\w+)\n(.*?)^```$/gms)];
  const code = blocks.filter((block) => block[1] === language)[index]?.[2];
  assert.ok(code !== undefined, `${file} has no block ${index} of ${language}`);
  return code;
}
