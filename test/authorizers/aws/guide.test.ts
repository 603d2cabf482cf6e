import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { startAuthorizers } from "../../../src/authorizers/server.ts";
import { silentLog, useIssuer } from "../../decision/support.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { guideBlockWith, tryGuideFunction } from "./support/guide-function.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const PAGE = readFileSync(join(ROOT, "docs/deployment/aws.md"), "utf8");

describe("docs: deployment with API Gateway", function () {
  this.timeout(180_000);
  const idp = useIssuer();

  it("the function is bundled and answers as the page says", async () => {
    const { exports } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
      exports: Record<"./aws-lambda", { types: string; default: string }>;
    };
    const delivered = exports["./aws-lambda"].default;
    assert.equal(exports["./aws-lambda"].types, delivered.replace(/\.js$/, ".d.ts"));
    // as compiled into the package: `npm run build` writes src to dist
    const source = join(ROOT, delivered.replace(/^\.\/dist\/(.*)\.js$/, "src/$1.ts"));
    assert.ok(existsSync(source), source);
    // from the packed package: test/deploy/run/image.test.ts
    await tryGuideFunction(idp.issuer, async (scope) => {
      const installed = join(scope, "gatehouse");
      await mkdir(installed);
      await writeFile(
        join(installed, "package.json"),
        '{"type":"module","exports":{"./aws-lambda":"./it.js"}}',
      );
      await writeFile(join(installed, "it.js"), `export * from ${JSON.stringify(source)};\n`);
    });
  });

  it("the function that asks answers with what it gets", async () => {
    let answer = { status: 200, headers: [], body: '{"principalId":"u-1"}' };
    const authz = await startAuthorizers({
      listen: { host: "127.0.0.1", port: 0 },
      callers: ["127.0.0.1"],
      doors: new Map(),
      apis: new Map([
        ["/aws", { method: "POST" as const, mostBytes: 1000, answer: ({ body }) => (asked(body), answer) }],
      ]),
      decisionTimeout: 1_000,
      log: { ...silentLog, info: () => undefined, warn: () => undefined },
    });
    const events: unknown[] = [];
    const asked = (body: Uint8Array) => events.push(JSON.parse(Buffer.from(body).toString()));
    try {
      const file = join(await temporaryDirectory(), "ask.mjs");
      await writeFile(file, guideBlockWith("js", "// ask.mjs").replace("9292", String(authz.port)));
      const { handler } = (await import(pathToFileURL(file).href)) as {
        handler: (event: object) => Promise<unknown>;
      };
      assert.deepEqual(await handler({ type: "TOKEN" }), { principalId: "u-1" });
      assert.deepEqual(events, [{ type: "TOKEN" }]);
      answer = { ...answer, status: 401 };
      await assert.rejects(handler({}), { message: "Unauthorized" });
      answer = { ...answer, status: 500 };
      await assert.rejects(handler({}), { message: "no decision" });
    } finally {
      await authz.close(0);
    }
  });

  it("names every key of `authz.aws`", () => {
    const reference = readFileSync(join(ROOT, "docs/configuration.md"), "utf8");
    const keys = [...reference.matchAll(/`authz\.aws\.(\w+)`/g)].map(([, key = ""]) => key);
    assert.ok(keys.length >= 6);
    for (const key of new Set(keys)) assert.ok(PAGE.includes(key), key);
  });
});
