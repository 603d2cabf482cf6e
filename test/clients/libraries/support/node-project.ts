import { execFile } from "node:child_process";
import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { buildNodeClient } from "../../../../clients/node/build.ts";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";

const run = promisify(execFile);
const RUNNER = fileURLToPath(new URL("../../../../clients/cases/run.mjs", import.meta.url));

/** An archive of the library, as `npm publish` would send it. */
export async function packNodeClient(): Promise<string> {
  const folder = join(await temporaryDirectory(), "package");
  await buildNodeClient(folder);
  const { stdout } = await run("npm", ["pack", "--ignore-scripts", "--json"], { cwd: folder });
  const packed = JSON.parse(stdout) as
    readonly { filename: string }[] | Readonly<Record<string, { filename: string }>>;
  const [first] = Object.values(packed);
  return join(folder, first?.filename ?? "");
}

/** An empty project in which the archive was installed, with the program that runs cases. */
export async function nodeProject(archive: string): Promise<string> {
  const folder = join(await temporaryDirectory(), "project");
  await mkdir(folder);
  await writeFile(join(folder, "package.json"), '{ "name": "project", "private": true, "type": "module" }\n');
  await run("npm", ["install", "--no-audit", "--no-fund", "--offline", archive], { cwd: folder });
  await copyFile(RUNNER, join(folder, "run.mjs"));
  return folder;
}
