import { watch } from "node:fs";
import { basename, dirname } from "node:path";

/**
 * Watches the folder, because a file that is replaced by a rename is another file. Where watching fails (no such
 * folder, too many watches, a network file system), nobody is told: whoever needs to know looks by itself, too.
 *
 * @returns how to stop
 */
export function watchFile(path: string, changed: () => void): () => void {
  try {
    const watcher = watch(dirname(path), { persistent: false }, (_event, name) => {
      // a folder that Kubernetes mounts changes by the link `..data`, not by the file's own name
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
