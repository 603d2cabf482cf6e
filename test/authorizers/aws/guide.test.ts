import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { startAuthorizers } from "../../../src/authorizers/server.ts";
import { silentLog, useIssuer } from "../../decision/support.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const PAGE = readFileSync(join(ROOT, "docs/deployment/aws.md"), "utf8");
const blocks = [...PAGE.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = "", text = ""]) => ({
  language,
  text,
}));
const only = (language: string, part: string): string => {
  const [found, ...more] = blocks.filter((block) => block.language === language && block.text.includes(part));
  assert.ok(found !== undefined && more.length === 0, part);
  return found.text;
};

describe("docs: deployment with API Gateway", function () {
  this.timeout(180_000);
  const idp = useIssuer();

  it("the function is bundled and answers as the page says", async () => {
    const directory = await temporaryDirectory();
    const installed = join(directory, "node_modules/@gatehouse-access/gatehouse");
    await mkdir(installed, { recursive: true });
    await mkdir(join(directory, "policies"));
    const { exports } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
      exports: Record<"./aws-lambda", { types: string; default: string }>;
    };
    const delivered = exports["./aws-lambda"].default;
    assert.equal(exports["./aws-lambda"].types, delivered.replace(/\.js$/, ".d.ts"));
    // as compiled into the package: `npm run build` writes src to dist
    const source = join(ROOT, delivered.replace(/^\.\/dist\/(.*)\.js$/, "src/$1.ts"));
    assert.ok(existsSync(source), source);
    await writeFile(
      join(installed, "package.json"),
      '{"type":"module","exports":{"./aws-lambda":"./it.js"}}',
    );
    await writeFile(join(installed, "it.js"), `export * from ${JSON.stringify(source)};\n`);
    for (const tool of ["esbuild"])
      await symlink(join(ROOT, "node_modules", tool), join(directory, "node_modules", tool));
    const config = only("yaml", "# gateway.yaml")
      .replace("https://login.example.com", idp.issuer.url)
      .replace("my-api", idp.issuer.audience);
    await writeFile(join(directory, "gateway.yaml"), config);
    await writeFile(join(directory, "policies/default.yaml"), only("yaml", "# policies/default.yaml"));
    await writeFile(join(directory, "authorizer.js"), only("js", "// authorizer.js"));
    await writeFile(join(directory, "event.json"), only("json", "methodArn"));
    const sh = (text: string) =>
      run("sh", ["-e", "-c", text], {
        cwd: directory,
        env: { ...process.env, PATH: `${join(ROOT, "node_modules/.bin")}:${process.env["PATH"] ?? ""}` },
      });
    await sh(only("sh", "esbuild").replace("npx esbuild", "esbuild"));
    const { stdout, stderr } = await sh(only("sh", "try.mjs"));
    assert.match(stderr, /^GET \/prices: Allow$/m);
    assert.match(stderr, /^GET \/orders: Unauthorized$/m);
    assert.match(stderr, /^GET \/other: Deny$/m);
    const reasons = stdout
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { reason: string }).reason);
    assert.deepEqual(reasons, ["CONDITION_TRUE", "IDENTITY_REQUIRED", "NO_MATCHING_RULE"]);
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
      await writeFile(file, only("js", "// ask.mjs").replace("9292", String(authz.port)));
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
