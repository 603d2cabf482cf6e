import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "js-yaml";
import { ROOT } from "../../release/source.ts";

interface Workflow {
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<
    Record<
      string,
      {
        readonly strategy?: { readonly matrix: { readonly target: readonly string[] } };
        readonly steps: readonly { readonly uses?: string; readonly run?: string }[];
      }
    >
  >;
}

const targets = new Set(
  [...readFileSync(join(ROOT, "Makefile"), "utf8").matchAll(/^([a-z-]+):.*## /gm)].map(([, name]) => name),
);

describe("release: workflows", () => {
  const files = globSync(".github/workflows/*.yml", { cwd: ROOT });

  it("are there", () => {
    assert.deepEqual(files.toSorted(), [".github/workflows/ci.yml", ".github/workflows/release.yml"]);
  });

  for (const file of files)
    it(`${file}: runs targets of the Makefile alone, and actions of one version`, () => {
      const { jobs, permissions } = load(readFileSync(join(ROOT, file), "utf8")) as Workflow;
      assert.deepEqual(permissions, { contents: "read" });
      for (const { steps, strategy } of Object.values(jobs))
        for (const { uses, run } of steps) {
          if (uses !== undefined) assert.match(uses, /^actions\/[a-z-]+@v\d+\.\d+\.\d+$/);
          if (run === undefined) continue;
          const [, target = ""] = /^make (.+)$/.exec(run) ?? [];
          const named = target === "${{ matrix.target }}" ? (strategy?.matrix.target ?? []) : [target];
          assert.ok(named.length > 0, run);
          for (const name of named) assert.ok(targets.has(name), `make ${name}`);
        }
    });
});
