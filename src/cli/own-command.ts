import { isAbsolute, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { manifest } from "./manifest.ts";

/** Two folders above both `src/cli` and `dist/cli`. */
const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const IS_CHECKOUT = import.meta.url.endsWith(".ts");

/**
 * How to call this program from the current folder, for commands that we tell people to run. `npx gatehouse` is this
 * program only inside its checkout; anywhere else npm would fetch another publisher's package of that name.
 */
export function ownCommand(folder: string = process.cwd()): string {
  if (!IS_CHECKOUT) return `npx ${manifest().name}`;
  return isWithin(folder)
    ? "npx gatehouse"
    : `${shellWord(process.execPath)} ${shellWord(`${ROOT}bin/gatehouse.js`)}`;
}

/** How to call the Node.js that runs this program; the one on PATH may be older. */
export function ownNode(folder: string = process.cwd()): string {
  return IS_CHECKOUT && isWithin(folder) ? "npx node" : shellWord(process.execPath);
}

function isWithin(folder: string): boolean {
  const path = relative(ROOT, folder);
  return !isAbsolute(path) && !/^\.\.(?:[\\/]|$)/.test(path);
}

/** Quotes a word for a POSIX shell if needed. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
