import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../../release/source.ts";
import { leaveOut } from "../../support/programs.ts";
import { goProgram } from "../support/go-program.ts";

const VERSION = "v1.7.12";

/** What `.github/workflows` has is run by nobody before it is needed. */
describe("release: workflows by actionlint", function () {
  this.timeout(300_000);
  let binary: string | undefined;

  before(function () {
    binary = goProgram("actionlint", "github.com/rhysd/actionlint/cmd/actionlint", VERSION);
    if (binary === undefined) {
      leaveOut("the workflows", "Go", "is not installed, or finds no modules");
      this.skip();
    }
  });

  /** @returns what it says of a workflow; empty if it has nothing to say */
  const findings = (text: string) => {
    const { error, stdout, stderr } = spawnSync(binary!, ["-no-color", "-oneline", "-"], {
      input: text,
      encoding: "utf8",
    });
    assert.equal(error, undefined);
    return `${stdout}${stderr}`;
  };

  for (const file of globSync(".github/workflows/*.yml", { cwd: ROOT })) {
    const text = readFileSync(join(ROOT, file), "utf8");

    it(`${file}: has keys, contexts, expressions and needs that there are`, () => {
      assert.equal(findings(text), "");
    });

    it(`${file}: would be told what is wrong`, () => {
      assert.match(findings(text.replace("runs-on:", "run-on:")), /unexpected key "run-on"/);
      assert.match(
        findings(text.replace("jobs:", "env: { X: '${{ secret.TOKEN }}' }\njobs:")),
        /undefined variable "secret"/,
      );
    });
  }
});
