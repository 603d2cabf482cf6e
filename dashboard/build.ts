import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { build, type Rolldown } from "vite";

const ROOT = import.meta.dirname;
const PROJECT = join(ROOT, "..");
const BUILT = join(ROOT, "dist");
/** Says which sources a build was made from: their hash, then those that are not in this folder. */
const STAMP = "built-from.txt";

/**
 * Builds the dashboard into `dist`, unless it is already built from the same sources. The new build replaces the old one
 * as a whole, so a control plane that starts meanwhile finds either of them.
 */
export async function buildDashboard(): Promise<void> {
  if (isFresh(BUILT)) return;
  const next = join(ROOT, `dist.${process.pid}`);
  const shared = await buildInto(next);
  writeFileSync(join(next, STAMP), [hashOf(shared), ...shared].join("\n"));
  const old = join(ROOT, `dist.old.${process.pid}`);
  if (existsSync(BUILT)) renameSync(BUILT, old);
  try {
    renameSync(next, BUILT);
  } catch (error) {
    // another build was faster
    rmSync(next, { recursive: true, force: true });
    if (!isFresh(BUILT)) throw error;
  }
  rmSync(old, { recursive: true, force: true });
}

/** @returns the files of `src`, outside of this folder, that are part of the build */
async function buildInto(folder: string): Promise<readonly string[]> {
  const seen = new Set<string>();
  const sources = join(PROJECT, "src");
  const remember = (): Rolldown.Plugin => ({
    name: "remember-sources",
    load(id) {
      if (id.startsWith(sources)) seen.add(relative(PROJECT, id.replace(/\?.*$/, "")));
    },
  });
  await build({
    configFile: join(ROOT, "vite.config.ts"),
    logLevel: "warn",
    plugins: [remember()],
    // workers are built by themselves
    worker: { plugins: () => [remember()] },
    build: { outDir: folder },
  });
  return [...seen].sort();
}

function isFresh(folder: string): boolean {
  const file = join(folder, STAMP);
  if (!existsSync(file)) return false;
  const [hash, ...shared] = readFileSync(file, "utf8").split("\n");
  return shared.every((name) => existsSync(join(PROJECT, name))) && hashOf(shared) === hash;
}

/**
 * Of all source files, and of the versions of the packages that are built in.
 *
 * @param shared - the files outside of this folder. A new one among them is imported by one that has changed
 */
function hashOf(shared: readonly string[]): string {
  const hash = createHash("sha256");
  const own = readdirSync(ROOT, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !/^(dist|screenshots)[./]/.test(relative(ROOT, file)))
    .sort();
  for (const file of [
    ...own,
    ...shared.map((name) => join(PROJECT, name)),
    join(PROJECT, "package-lock.json"),
  ])
    hash.update(relative(ROOT, file)).update("\0").update(readFileSync(file)).update("\0");
  return hash.digest("hex");
}

if (process.argv[1] === import.meta.filename) await buildDashboard();
