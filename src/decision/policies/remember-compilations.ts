import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Compilation, compileInThread } from "./compile-thread.ts";

/** The versions between which a rollout changes, and the one before: a promotion or a rollback compiles nothing. */
const MOST = 4;

/**
 * Compiles the same files only once, as long as they are among the last ones: they are data, and nothing else decides what
 * they are compiled to. A failure to compile is not remembered; findings about the policies are.
 *
 * @param most - maximum number of sets that are remembered
 */
export function rememberCompilations(compile: typeof compileInThread, most = MOST): typeof compileInThread {
  const known = new LRUCache<string, Promise<Compilation>>({ max: most });
  return (files, name) => {
    const key = createHash("sha256")
      .update(JSON.stringify([name, files.map((file) => [file.name, file.text])]))
      .digest("base64");
    const remembered = known.get(key);
    if (remembered !== undefined) return remembered;
    const compiling = compile(files, name);
    known.set(key, compiling);
    compiling.catch(() => {
      if (known.get(key) === compiling) known.delete(key);
    });
    return compiling;
  };
}
