import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** In this order: longer names first. */
const REPLACEMENTS: readonly (readonly [RegExp, string])[] = [
  [/\bAsyncIterator\b/g, "Iterator"],
  [/\bhttpx\.AsyncClient\b/g, "httpx.Client"],
  [/\banyio\.sleep\b/g, "time.sleep"],
  [/\banyio\.Lock\b/g, "threading.Lock"],
  [/\b__aiter__\b/g, "__iter__"],
  [/\b__anext__\b/g, "__next__"],
  [/\bStopAsyncIteration\b/g, "StopIteration"],
  [/\b__aenter__\b/g, "__enter__"],
  [/\b__aexit__\b/g, "__exit__"],
  [/\baiter_bytes\b/g, "iter_bytes"],
  [/\baclose\b/g, "close"],
  [/\basync (def|for|with)\b/g, "$1"],
  [/\bawait /g, ""],
  [/\bAsync(?=[A-Z])/g, ""],
];

/**
 * The synchronous Python client, from the asynchronous one: they differ in nothing but how they wait.
 *
 * @param folder - `_async`
 * @returns the text of each file by its path below `_sync`
 */
export function synchronousOf(folder: string): ReadonlyMap<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".py"),
  );
  return new Map(names.sort().map((name) => [name, synchronous(readFileSync(join(folder, name), "utf8"))]));
}

function synchronous(text: string): string {
  const replaced = REPLACEMENTS.reduce((before, [pattern, by]) => before.replace(pattern, by), text)
    .replace(/^"""The asynchronous client\..*"""$/m, '"""The synchronous client."""')
    .replace(/^import anyio\n/m, "");
  const imported = replaced.includes("threading.")
    ? replaced.replace(/^import time$/m, "import threading\nimport time")
    : replaced;
  return imported.startsWith('"""') ? imported : `# Made from _async: see clients/README.md.\n${imported}`;
}
