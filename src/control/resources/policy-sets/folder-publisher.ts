import { watch, type FSWatcher } from "node:fs";
import { readPolicyFolder } from "../../../decision/policies/policy-folder.ts";
import { every } from "../../../runtime/every.ts";
import { sleep } from "../../../runtime/sleep.ts";
import type { BackgroundWork } from "../../platform/context.ts";
import { publishFiles, sourceOf, type PublishFolderDependencies } from "./publish-folder.ts";

export interface FolderPublisherOptions {
  readonly directory: string;
  readonly policySet: string;
  /** Where watching finds nothing, and after a failure. Default: 5 s. */
  readonly intervalMs?: number;
  /** Told after each attempt whether the folder could not be published as it is. */
  readonly onAttempt?: (failed: boolean) => void;
}

const INTERVAL_MS = 5_000;
/** How long a folder must stay unchanged before it is published: an editor or a checkout may be half way through. */
const SETTLE_MS = 100;

/** Publishes a policy folder now, and whenever it changes. */
export function startFolderPublisher(
  dependencies: PublishFolderDependencies,
  { directory, policySet, intervalMs = INTERVAL_MS, onAttempt }: FolderPublisherOptions,
): BackgroundWork {
  const { log } = dependencies.context;
  let seen: string | undefined;
  const publishing = every(
    intervalMs,
    async () => {
      try {
        await publishIfChanged();
      } catch (error) {
        onAttempt?.(true);
        throw error;
      }
    },
    { what: `publish the policy folder as \`${policySet}\``, log, level: "error", now: true },
  );
  const watchers = watchAll([directory, `${directory}/${policySet}`], () => void publishing.run());

  async function publishIfChanged(): Promise<void> {
    const folder = await readPolicyFolder(directory, policySet);
    if (folder.fingerprint === seen) return;
    await sleep(SETTLE_MS);
    const settled = await readPolicyFolder(directory, policySet);
    if (settled.fingerprint !== folder.fingerprint) {
      void publishing.run();
      return;
    }
    const { kind } = await publishFiles(dependencies, settled, policySet, sourceOf(directory));
    onAttempt?.(kind === "invalid");
    // not before it is published: a failure is tried again
    seen = settled.fingerprint;
  }

  return {
    async close() {
      for (const watcher of watchers) watcher.close();
      await publishing.close();
    },
  };
}

/** Watching only saves waiting: where it is not available, the interval finds every change. */
function watchAll(paths: readonly string[], onChange: () => void): FSWatcher[] {
  return paths.flatMap((path) => {
    try {
      const watcher = watch(path, onChange);
      watcher.on("error", () => {
        watcher.close();
      });
      return [watcher.unref()];
    } catch {
      return [];
    }
  });
}
