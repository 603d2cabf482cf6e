import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { startDemoApplication, type DemoApplication } from "../../src/demo/application.ts";
import { demoExamples } from "../../src/demo/examples.ts";
import { DEMO_ROLES } from "../../src/demo/people.ts";

const run = promisify(execFile);

describe("demo examples", () => {
  const examples = demoExamples("http://127.0.0.1:8000");

  it("show an allow, every kind of denial, the forged header, and every kind of rule", () => {
    assert.deepEqual(
      examples.map(({ expect }) => expect.status),
      [200, 403, 401, 400, 200, 200, 200, 200, 410, 200, 403, undefined, undefined, undefined, undefined],
    );
  });

  for (const { title, command } of examples) {
    it(`${title}: one line that a POSIX shell parses, against the gateway`, async () => {
      assert.doesNotMatch(command, /\n/);
      assert.match(command, /'(?:http|ws):\/\/127\.0\.0\.1:8000\/[^']*'/);
      await run("sh", ["-n", "-c", command]);
    });
  }

  it("ask only for roles that exist", () => {
    const roles = examples.flatMap(({ command }) =>
      [...command.matchAll(/--role (\S+?)\)/g)].map((m) => m[1]),
    );
    assert.equal(roles.length, 14);
    for (const role of roles)
      assert.ok(
        DEMO_ROLES.some((known) => known === role),
        role,
      );
  });

  describe("without the gateway", () => {
    let application: DemoApplication;
    before(async () => {
      application = await startDemoApplication({ port: 0, eventInterval: 600_000 });
    });
    after(async () => {
      await application.close();
    });

    it("show what the gateway takes away", async () => {
      const noCurl = spawnSync("curl", ["--version"]).error !== undefined;
      const helper = fileURLToPath(new URL("../support/curl.ts", import.meta.url));
      const curl = noCurl ? `${process.execPath} ${helper} ` : "curl ";
      for (const { title, command, expect } of demoExamples(application.url)) {
        if (expect.absent === undefined) continue;
        const line = command
          .replaceAll(/\$\(npx gatehouse demo token --role \w+\)/g, "any")
          .replace(/^curl /, curl)
          .replace(/^npx node /, `${process.execPath} `);
        const { stdout } = await run("sh", ["-c", line]);
        assert.ok(stdout.includes(expect.absent), `${title}: ${stdout}`);
        assert.ok(!stdout.includes(expect.body), `${title}: ${stdout}`);
      }
    });
  });
});
