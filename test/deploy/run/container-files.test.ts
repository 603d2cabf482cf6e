import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { installPythonPackages } from "../../clients/support/python-packages.ts";
import { leaveOut } from "../../support/programs.ts";
import { composeFile } from "../support/compose.ts";
import { documentErrors, goModule } from "../support/schemas.ts";

const run = promisify(execFile);
const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));

describe("deploy: Dockerfile and compose.yaml", function () {
  this.timeout(300_000);

  it("hadolint finds nothing in the Dockerfile", async () => {
    const packages = await installPythonPackages("hadolint", pathOf("../support/hadolint-requirements.txt"));
    const hadolint = join(packages, "bin/hadolint");
    await run(hadolint, ["--no-color", pathOf("../../../deploy/docker/Dockerfile")]);
    // it does look
    const checked = run(hadolint, ["--no-color", "-"]);
    checked.child.stdin?.end("FROM debian\nUSER root\n");
    await assert.rejects(checked, ({ stdout }: { readonly stdout: string }) => stdout.includes("DL3002"));
  });

  const module = goModule("github.com/compose-spec/compose-go/v2@v2.16.2");
  if (module === undefined) {
    leaveOut("the schema of compose.yaml", "Go", "is not installed, or finds no modules");
    return;
  }
  it("compose.yaml is what the Compose specification permits", async () => {
    const schema = JSON.parse(await readFile(join(module, "schema/compose-spec.json"), "utf8")) as object;
    const file = composeFile();
    assert.deepEqual(await documentErrors(file, schema), []);
    const { demo, ...services } = file.services;
    const wrong = { ...file, services: { ...services, demo: { ...demo, helthcheck: {} } } };
    assert.match((await documentErrors(wrong, schema)).join(), /helthcheck/);
  });
});
