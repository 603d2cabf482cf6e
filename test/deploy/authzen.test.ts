import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const SCRIPT = fileURLToPath(new URL("../../deploy/authzen/interop.mjs", import.meta.url));

/** In the form that the working group publishes. */
const question = (id: string, method: string, route: string, expected: boolean) => ({
  request: {
    subject: { type: "identity", id },
    action: { name: method },
    resource: { type: "route", id: route },
  },
  expected,
});
const PEOPLE = {
  e1: { id: "eva@example.com", roles: ["editor"] },
  v1: { id: "vik@example.com", roles: ["viewer"] },
};
const RIGHT = [
  question("e1", "GET", "/users/{userId}", true),
  question("e1", "PUT", "/todos/{todoId}", true),
  question("v1", "GET", "/todos", true),
  question("v1", "POST", "/todos", false),
  question("v1", "DELETE", "/todos/{todoId}", false),
  question("nobody", "POST", "/todos", false),
  question("e1", "PATCH", "/todos/{todoId}", false),
];

describe("deploy: AuthZEN's API gateway scenario", function () {
  this.timeout(120_000);

  async function run(evaluation: readonly object[]) {
    const folder = await temporaryDirectory();
    const put = async (path: string, text: string) => {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    };
    await put(
      "interop/authzen-api-gateways/test-harness/test/decisions.json",
      JSON.stringify({ evaluation, evaluations: [] }),
    );
    await put(
      "interop/authzen-interop-website/docs/scenarios/api-gateway/index.md",
      `# Scenario\n\n\`\`\`js\n{ "subject": {} }\n\`\`\`\n\n\`\`\`js\n${JSON.stringify(PEOPLE)}\n\`\`\`\n`,
    );
    return new Promise<{ readonly code: number; readonly stdout: string }>((resolve) => {
      execFile(process.execPath, [SCRIPT, folder], (error, stdout) => {
        resolve({ code: Number(error?.code ?? 0), stdout });
      });
    });
  }

  it("the script ends with 0 if all decisions are as published", async () => {
    const { code, stdout } = await run(RIGHT);
    assert.match(stdout, /^7 of 7 decisions are right$/m);
    assert.equal(code, 0);
  });

  it("and with 1 if one of them is not", async () => {
    const { code, stdout } = await run([...RIGHT, question("v1", "POST", "/todos", true)]);
    assert.match(stdout, /^WRONG {2}false {2}POST \/todos as v1$/m);
    assert.match(stdout, /^7 of 8 decisions are right$/m);
    assert.equal(code, 1);
  });
});
