import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { cp, mkdir, rename, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** A program that runs JavaScript. */
export interface NodeRuntime {
  readonly program: string;
  readonly version: string;
}

interface Lock {
  readonly packages: Readonly<
    Record<string, { readonly version?: string; readonly os?: string; readonly cpu?: string }>
  >;
}

const FILES = fileURLToPath(new URL("node-runtimes/", import.meta.url));
const LOCK = readFileSync(join(FILES, "package-lock.json"));
const FOLDER = join(
  resolve(".gatehouse/node-runtimes"),
  createHash("sha256").update(LOCK).digest("hex").slice(0, 16),
);

/** The oldest one that is supported, this one, and the newest one. */
export const NODE_RUNTIMES: readonly NodeRuntime[] = [
  { program: process.execPath, version: process.versions.node },
  ...Object.entries((JSON.parse(LOCK.toString()) as Lock).packages)
    .filter(([, { os, cpu }]) => os === process.platform && cpu === process.arch)
    .map(([name, { version = "" }]) => ({ program: join(FOLDER, name, "bin/node"), version })),
].sort((a, b) => a.version.localeCompare(b.version, "en", { numeric: true }));

/** Installs those that are not the one that runs this. */
export async function installNodeRuntimes(): Promise<void> {
  if (existsSync(FOLDER)) return;
  const target = `${FOLDER}.${process.pid}.tmp`;
  await mkdir(dirname(FOLDER), { recursive: true });
  try {
    await cp(FILES, target, { recursive: true });
    await promisify(execFile)("npm", ["ci", "--no-audit", "--no-fund"], { cwd: target });
    await rename(target, FOLDER).catch((error: unknown) => {
      // another process was faster
      if (!existsSync(FOLDER)) throw error;
    });
  } finally {
    await rm(target, { recursive: true, force: true });
  }
}
