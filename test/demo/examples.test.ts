import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { demoExamples } from "../../src/demo/examples.ts";
import { DEMO_ROLES } from "../../src/demo/people.ts";

const run = promisify(execFile);

describe("demo examples", () => {
  const examples = demoExamples("http://127.0.0.1:8000");

  it("show an allow, every kind of denial, and the forged header", () => {
    assert.deepEqual(
      examples.map(({ expect }) => expect.status),
      [200, 403, 401, 400, 200],
    );
  });

  for (const { title, command } of examples) {
    it(`${title}: one line that a POSIX shell parses, against the gateway`, async () => {
      assert.doesNotMatch(command, /\n/);
      assert.match(command, /'http:\/\/127\.0\.0\.1:8000\/[^']*'$/);
      await run("sh", ["-n", "-c", command]);
    });
  }

  it("ask only for roles that exist", () => {
    const roles = examples.flatMap(({ command }) =>
      [...command.matchAll(/--role (\S+?)\)/g)].map((m) => m[1]),
    );
    assert.equal(roles.length, 4);
    for (const role of roles)
      assert.ok(
        DEMO_ROLES.some((known) => known === role),
        role,
      );
  });
});
