import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { pythonEnvironment, pythonPackages } from "./support/python-project.ts";
import { PYTHON_RUNTIMES } from "./support/python-runtimes.ts";
import { startTokenIssuer } from "./support/token-issuer.ts";

const SOURCE = fileURLToPath(new URL("../../../clients/python/src", import.meta.url));
const SCRIPT = fileURLToPath(new URL("support/library.py", import.meta.url));
const TRIO_SCRIPT = fileURLToPath(new URL("support/library_trio.py", import.meta.url));

describe("client library for Python", () => {
  for (const { program, version, requirements } of PYTHON_RUNTIMES) {
    it(`Python ${version}, ${requirements} packages: does what it says when things go wrong`, async () => {
      const issuer = await startTokenIssuer();
      try {
        const tokens = [await issuer.token(), await issuer.token({ aud: "other" })];
        const { stdout } = await promisify(execFile)(program, [SCRIPT, issuer.url, ...tokens], {
          env: pythonEnvironment(SOURCE, await pythonPackages(requirements)),
        });
        const checks = [...readFileSync(SCRIPT, "utf8").matchAll(/^@check\ndef (\w+)/gm)].map(
          ([, name]) => name,
        );
        assert.deepEqual(JSON.parse(stdout), checks);
      } finally {
        await issuer.close();
      }
    });
  }

  it("does the same with Trio", async () => {
    const { program, requirements } = PYTHON_RUNTIMES.at(-1)!;
    const issuer = await startTokenIssuer();
    try {
      const folders = [SOURCE, await pythonPackages(requirements), await pythonPackages("trio")];
      const { stdout } = await promisify(execFile)(program, [TRIO_SCRIPT, issuer.url, await issuer.token()], {
        env: pythonEnvironment(...folders),
      });
      assert.deepEqual(JSON.parse(stdout), ["calls", "retries_and_deadlines", "tokens", "events"]);
    } finally {
      await issuer.close();
    }
  });
});
