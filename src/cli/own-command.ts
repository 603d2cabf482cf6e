import { isAbsolute, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { manifest } from "./manifest.ts";

/** Two folders up from `src/cli` and from `dist/cli` alike. */
const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const IS_CHECKOUT = import.meta.url.endsWith(".ts");

/**
 * How to call this program again from this folder, for what a command tells people to run. `npx gatehouse` is this program
 * within its checkout only: anywhere else npm would fetch the package of that name, which is somebody else's.
 */
export function ownCommand(folder: string = process.cwd()): string {
  if (!IS_CHECKOUT) return `npx ${manifest().name}`;
  return isWithin(folder)
    ? "npx gatehouse"
    : `${shellWord(process.execPath)} ${shellWord(`${ROOT}bin/gatehouse.js`)}`;
}

/** How to call the Node.js that this program runs on; the one on the PATH may be older. */
export function ownNode(folder: string = process.cwd()): string {
  return IS_CHECKOUT && isWithin(folder) ? "npx node" : shellWord(process.execPath);
}

function isWithin(folder: string): boolean {
  const path = relative(ROOT, folder);
  return !isAbsolute(path) && !/^\.\.(?:[\\/]|$)/.test(path);
}

/** Quoted for a POSIX shell, where it needs to be. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
