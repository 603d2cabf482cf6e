import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { pythonEnvironment, pythonPackages } from "./support/python-project.ts";
import { startTokenIssuer } from "./support/token-issuer.ts";

const SOURCE = fileURLToPath(new URL("../../../clients/python/src", import.meta.url));
const SCRIPT = fileURLToPath(new URL("support/library.py", import.meta.url));

describe("client library for Python", () => {
  it("does what it says when things go wrong", async () => {
    const issuer = await startTokenIssuer();
    try {
      const tokens = [await issuer.token(), await issuer.token({ aud: "other" })];
      const { stdout } = await promisify(execFile)("python3", [SCRIPT, issuer.url, ...tokens], {
        env: pythonEnvironment(SOURCE, await pythonPackages("client")),
      });
      const checks = [...readFileSync(SCRIPT, "utf8").matchAll(/^@check\ndef (\w+)/gm)].map(
        ([, name]) => name,
      );
      assert.deepEqual(JSON.parse(stdout), checks);
    } finally {
      await issuer.close();
    }
  });
});
