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
        readonly permissions?: Readonly<Record<string, string>>;
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
    it(`${file}: runs targets of the Makefile alone, and actions of one commit`, () => {
      const { jobs, permissions } = load(readFileSync(join(ROOT, file), "utf8")) as Workflow;
      assert.deepEqual(permissions, { contents: "read" });
      for (const { steps, strategy } of Object.values(jobs))
        for (const { uses, run } of steps) {
          // a tag can be moved, a commit cannot
          if (uses !== undefined) assert.match(uses, /^actions\/[a-z-]+@[0-9a-f]{40}$/);
          if (run === undefined) continue;
          const [, target = ""] = /^make (.+)$/.exec(run) ?? [];
          const named = target === "${{ matrix.target }}" ? (strategy?.matrix.target ?? []) : [target];
          assert.ok(named.length > 0, run);
          for (const name of named) assert.ok(targets.has(name), `make ${name}`);
        }
      const text = readFileSync(join(ROOT, file), "utf8");
      for (const [line] of text.matchAll(/^.* uses: .*$/gm)) assert.match(line, / # v\d+\.\d+\.\d+$/);
    });

  it("what may write runs nothing from registries", () => {
    const writers = files.flatMap((file) =>
      Object.values((load(readFileSync(join(ROOT, file), "utf8")) as Workflow).jobs).filter(
        ({ permissions = {} }) => Object.values(permissions).includes("write"),
      ),
    );
    assert.deepEqual(
      writers.map(({ steps }) => steps.map(({ uses, run }) => run ?? uses?.split("@")[0])),
      [["actions/checkout", "actions/download-artifact", "make release-publish"]],
    );
  });
});
