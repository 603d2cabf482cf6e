import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));

const GUIDE = readFileSync(join(ROOT, "docs/deployment/aws.md"), "utf8");
const blocks = [...GUIDE.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = "", text = ""]) => ({
  language,
  text,
}));

/** The only block of the guide to API Gateway in this language that contains `part`. */
export function guideBlockWith(language: string, part: string): string {
  const [found, ...more] = blocks.filter((block) => block.language === language && block.text.includes(part));
  assert.ok(found !== undefined && more.length === 0, part);
  return found.text;
}

/**
 * Bundles the function of the guide and tries it, both with the guide's commands; throws unless it answers as the guide says.
 *
 * @param install - puts the package into a `node_modules/@gatehouse-access`
 */
export async function tryGuideFunction(
  issuer: { readonly url: string; readonly audience: string },
  install: (scope: string) => Promise<void>,
): Promise<void> {
  const directory = await temporaryDirectory();
  const scope = join(directory, "node_modules/@gatehouse-access");
  await mkdir(scope, { recursive: true });
  await install(scope);
  await symlink(join(ROOT, "node_modules/esbuild"), join(directory, "node_modules/esbuild"));
  await mkdir(join(directory, "policies"));
  const config = guideBlockWith("yaml", "# gateway.yaml")
    .replace("https://login.example.com", issuer.url)
    .replace("my-api", issuer.audience);
  await writeFile(join(directory, "gateway.yaml"), config);
  const policies = guideBlockWith("yaml", "# policies/default.yaml");
  await writeFile(join(directory, "policies/default.yaml"), policies);
  await writeFile(join(directory, "authorizer.js"), guideBlockWith("js", "// authorizer.js"));
  await writeFile(join(directory, "event.json"), guideBlockWith("json", "methodArn"));
  const sh = (text: string) =>
    run("sh", ["-e", "-c", text], {
      cwd: directory,
      env: { ...process.env, PATH: `${join(ROOT, "node_modules/.bin")}:${process.env["PATH"] ?? ""}` },
    });
  await sh(guideBlockWith("sh", "esbuild").replace("npx esbuild", "esbuild"));
  const { stdout, stderr } = await sh(guideBlockWith("sh", "try.mjs"));
  assert.match(stderr, /^GET \/prices: Allow$/m);
  assert.match(stderr, /^GET \/orders: Unauthorized$/m);
  assert.match(stderr, /^GET \/other: Deny$/m);
  const reasons = stdout
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as { reason: string }).reason);
  assert.deepEqual(reasons, ["CONDITION_TRUE", "IDENTITY_REQUIRED", "NO_MATCHING_RULE"]);
}
