import { watch } from "node:fs";
import { basename, dirname } from "node:path";

/**
 * Watches the folder, because a file that is replaced by a rename is a different file. If watching fails (no such folder, too
 * many watches, a network file system), nothing is reported: callers also check on an interval.
 *
 * @returns a function that stops watching
 */
export function watchFile(path: string, changed: () => void): () => void {
  try {
    const watcher = watch(dirname(path), { persistent: false }, (_event, name) => {
      // in a folder mounted by Kubernetes the link `..data` changes, not the file's own name
      if (name === null || name === basename(path) || name === "..data") changed();
    });
    watcher.on("error", () => {
      watcher.close();
    });
    return () => {
      watcher.close();
    };
  } catch {
    return () => undefined;
  }
}
