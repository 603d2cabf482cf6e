import { execFile } from "node:child_process";
import { chmod, cp, mkdir, readdir, readFile, stat, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** The files that the builder of the images is sent, by `Dockerfile.dockerignore`: nothing but what it lists. */
export async function buildContext(): Promise<string> {
  const folder = await temporaryDirectory();
  const lines = await readFile(join(ROOT, "deploy/docker/Dockerfile.dockerignore"), "utf8");
  const kept = lines.split("\n").filter((line) => line.startsWith("!"));
  const without = lines.split("\n").filter((line) => /^\w/.test(line));
  for (const path of kept.map((line) => line.slice(1))) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await cp(join(ROOT, path), join(folder, path), {
      recursive: true,
      filter: (from) => !without.some((left) => from === join(ROOT, left)),
    });
  }
  return folder;
}

/** Packs and installs as the Dockerfile does. @returns what the images have as `/app` */
export async function installedApp(): Promise<string> {
  const context = await buildContext();
  // what `npm ci` installs there
  await symlink(join(ROOT, "node_modules"), join(context, "node_modules"));
  const folder = await temporaryDirectory();
  // users other than this one look into it
  await chmod(folder, 0o755);
  await run("npm", ["pack", "--silent", "--pack-destination", folder], { cwd: context, maxBuffer: 1e8 });
  const [packed = ""] = (await readdir(folder)).filter((name) => name.endsWith(".tgz"));
  const app = join(folder, "app");
  await run("sh", [join(context, "deploy/docker/install.sh"), join(folder, packed), app], { maxBuffer: 1e8 });
  return app;
}

/** Bytes of a file, or of all files in a folder. */
export async function sizeOf(path: string): Promise<number> {
  const found = await stat(path);
  if (!found.isDirectory()) return found.size;
  const sizes = await Promise.all((await readdir(path)).map((name) => sizeOf(join(path, name))));
  return sizes.reduce((sum, size) => sum + size, 0);
}
