import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { runCases, runsOf, type Mode } from "./support/cases.ts";
import { nodeProject, packNodeClient } from "./support/node-project.ts";
import { installNodeRuntimes, NODE_RUNTIMES } from "./support/node-runtimes.ts";
import { buildWheel, installWheel, pythonEnvironment, pythonPackages } from "./support/python-project.ts";
import { PYTHON_RUNTIMES } from "./support/python-runtimes.ts";
import { startStage, type Stage } from "./support/stage.ts";

const PYTHON_RUNNER = fileURLToPath(new URL("../../../clients/cases/run.py", import.meta.url));

const PLACES: Readonly<Record<Mode, string>> = {
  real: "a real control plane",
  alone: "a real control plane for itself",
  fake: "the in-memory fake",
};

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
  const python = new Map<string, string>();

  before(async () => {
    await installNodeRuntimes();
    project = await nodeProject(await packNodeClient());
    const wheel = await buildWheel();
    for (const { program, requirements } of PYTHON_RUNTIMES) {
      const installed = await installWheel(wheel, program, await pythonPackages(requirements));
      python.set(requirements, installed.python);
    }
    // not beside the compiler: its start has a time limit
    stage = await startStage();
  });
  after(() => stage.close());

  const runners: readonly (readonly [name: string, runner: () => Runner])[] = [
    ...NODE_RUNTIMES.map(
      ({ program, version }) =>
        [`Node.js ${version}`, () => ({ command: [program, "run.mjs"], cwd: project })] as const,
    ),
    ...PYTHON_RUNTIMES.flatMap(({ version, requirements }) =>
      ["sync", "async"].map(
        (flavour) =>
          [
            `Python ${version} with the ${requirements} packages (${flavour})`,
            () => ({
              command: [python.get(requirements) ?? "", PYTHON_RUNNER, flavour],
              cwd: project,
              env: pythonEnvironment(),
            }),
          ] as const,
      ),
    ),
  ];

  const results = new Map<string, Promise<ReadonlyMap<string, string | null>>>();
  before(() => {
    // at the same time: most of it is waiting
    const others: Promise<unknown>[] = [];
    for (const [name, runner] of runners) {
      const real = runIn(runner(), "real");
      const fake = real.then(
        () => runIn(runner(), "fake"),
        () => runIn(runner(), "fake"),
      );
      for (const [mode, result] of [
        ["real", real],
        ["fake", fake],
      ] as const) {
        others.push(result.catch(() => undefined));
        results.set(`${name} ${mode}`, result);
      }
    }
    let before: Promise<unknown> = Promise.all(others);
    for (const [name, runner] of runners) {
      const alone = before.then(() => runIn(runner(), "alone"));
      before = alone.catch(() => undefined);
      results.set(`${name} alone`, alone);
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
    for (const mode of ["real", "alone", "fake"] as const) {
      describe(`${name}, ${PLACES[mode]}`, () => {
        for (const [environment, title] of runsOf(mode)) {
          it(`${title} (${environment})`, async () => {
            const problem = (await results.get(`${name} ${mode}`))?.get(`${environment} ${title}`);
            assert.equal(problem, null, problem ?? "it was not run");
          });
        }
      });
    }
  }
});
