import { watch, type FSWatcher } from "node:fs";
import { sleep } from "../../runtime/sleep.ts";
import { readPolicyFolder, type PolicyFolder } from "./policy-folder.ts";

/** A set as a source has it. */
export interface SourcedSet extends PolicyFolder {
  /** What the source calls it, which is then what audit records call it; else the version that its files name. */
  readonly version?: string;
}

/** Where policy sets come from: a folder, or the control plane. */
export interface PolicySource {
  /** For metrics. */
  readonly kind: "folder" | "control_plane";
  /**
   * Reads the files of a set as they are at one moment.
   *
   * @param seen - the fingerprint that was read last; where the set still has it, its files need not be given
   * @throws when the source cannot say
   */
  read(name: string, seen: string): Promise<SourcedSet>;
  /**
   * Calls `changed` when the set may be another one. That only saves waiting: it is looked at regularly, too.
   *
   * @returns how to stop
   */
  watch(name: string, changed: () => void): () => void;
}

/** How long a folder must stay unchanged before it is read: an editor or a checkout may be half way through. */
const SETTLE_MS = 50;
/** A folder that never comes to rest is read all the same after this many looks. */
const SETTLE_LOOKS = 40;

/** Sets in a folder: `<directory>/<name>.yaml`, or the folder `<directory>/<name>/`. */
export function folderSource(directory: string): PolicySource {
  return {
    kind: "folder",
    read: (name, seen) => readSettled(directory, name, seen),
    watch(name, changed) {
      const watchers = [directory, `${directory}/${name}`].flatMap((path) => watchPath(path, changed));
      return () => {
        for (const watcher of watchers) watcher.close();
      };
    },
  };
}

async function readSettled(directory: string, name: string, seen: string): Promise<PolicyFolder> {
  let folder = await readPolicyFolder(directory, name);
  if (folder.fingerprint === seen && seen !== "") return folder;
  for (let look = 0; look < SETTLE_LOOKS; look += 1) {
    await sleep(SETTLE_MS);
    const next = await readPolicyFolder(directory, name);
    if (next.fingerprint === folder.fingerprint) break;
    folder = next;
  }
  return folder;
}

/** Where watching is not available, the interval finds every change. */
function watchPath(path: string, changed: () => void): FSWatcher[] {
  try {
    const watcher = watch(path, changed);
    watcher.on("error", () => {
      watcher.close();
    });
    return [watcher.unref()];
  } catch {
    return [];
  }
}
