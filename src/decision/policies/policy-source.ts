import { watch, type FSWatcher } from "node:fs";
import { sleep } from "../../runtime/sleep.ts";
import { readPolicyFolder, type PolicyFolder } from "./policy-folder.ts";

/** A policy set as delivered by a source. */
export interface SourcedSet extends PolicyFolder {
  /** The source's version label, used in audit records; if absent, the version in the files is used. */
  readonly version?: string;
}

/** A source of policy sets: a folder, or the control plane. */
export interface PolicySource {
  /** For metrics. */
  readonly kind: "folder" | "control_plane";
  /**
   * Reads the files of a set at one point in time.
   *
   * @param seen - the last fingerprint; if it is unchanged, the files may be left out
   * @throws if the source is unavailable
   */
  read(name: string, seen: string): Promise<SourcedSet>;
  /**
   * Calls `changed` when the set may have changed. This only reduces delay: the set is also checked regularly.
   *
   * @returns a function that stops watching
   */
  watch(name: string, changed: () => void): () => void;
}

/** How long a folder must stay unchanged before it is read: an editor or a checkout may still be writing. */
const SETTLE_MS = 50;
/** A folder that keeps changing is read anyway after this many checks. */
const SETTLE_LOOKS = 40;

/**
 * Sets in a folder: `<directory>/<name>.yaml`, or the folder `<directory>/<name>/`.
 *
 * @param wait - between two looks at a folder that has changed; ms
 */
export function folderSource(directory: string, wait: (ms: number) => Promise<void> = sleep): PolicySource {
  return {
    kind: "folder",
    read: (name, seen) => readSettled(directory, name, seen, wait),
    watch(name, changed) {
      const watchers = [directory, `${directory}/${name}`].flatMap((path) => watchPath(path, changed));
      return () => {
        for (const watcher of watchers) watcher.close();
      };
    },
  };
}

async function readSettled(
  directory: string,
  name: string,
  seen: string,
  wait: (ms: number) => Promise<void>,
): Promise<PolicyFolder> {
  let folder = await readPolicyFolder(directory, name);
  if (folder.fingerprint === seen && seen !== "") return folder;
  for (let look = 0; look < SETTLE_LOOKS; look += 1) {
    await wait(SETTLE_MS);
    const next = await readPolicyFolder(directory, name);
    if (next.fingerprint === folder.fingerprint) break;
    folder = next;
  }
  return folder;
}

/** If watching is not available, the regular check finds every change. */
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
