import { watch, type FSWatcher } from "node:fs";
import { readPolicyFolder } from "../../../decision/policies/policy-folder.ts";
import { every } from "../../../runtime/every.ts";
import { sleep } from "../../../runtime/sleep.ts";
import type { BackgroundWork } from "../../platform/context.ts";
import { publishFiles, sourceOf, type PublishFolderDependencies } from "./publish-folder.ts";
import { findRunningRollout } from "./rollout-store.ts";

export interface FolderPublisherOptions {
  readonly directory: string;
  readonly policySet: string;
  /** Interval of checks, for changes that watching misses and after a failure. Default: 5 s. */
  readonly intervalMs?: number;
  /** Called after each attempt, and each look at a folder that waits, with whether publishing its content failed. */
  readonly onAttempt?: (failed: boolean) => void;
}

const INTERVAL_MS = 5_000;
/** How long a folder must stay unchanged before it is published: an editor or a checkout may still be writing. */
const SETTLE_MS = 100;

/** Publishes a policy folder now, and whenever it changes. */
export function startFolderPublisher(
  dependencies: PublishFolderDependencies,
  { directory, policySet, intervalMs = INTERVAL_MS, onAttempt }: FolderPublisherOptions,
): BackgroundWork {
  const { db, log } = dependencies.context;
  let seen: string | undefined;
  let waiting: string | undefined;
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
    // a rollout takes days: the set is not compiled again all the time
    if (folder.fingerprint === waiting && (await findRunningRollout(db, policySet)) !== undefined) {
      onAttempt?.(false);
      return;
    }
    await sleep(SETTLE_MS);
    const settled = await readPolicyFolder(directory, policySet);
    if (settled.fingerprint !== folder.fingerprint) {
      void publishing.run();
      return;
    }
    const outcome = await publishFiles(dependencies, settled, policySet, sourceOf(directory));
    onAttempt?.(outcome.kind === "invalid");
    if (outcome.kind === "waiting") {
      noteWaiting(settled.fingerprint, outcome.version);
      return;
    }
    // only after it was published, so that a failure is retried
    seen = settled.fingerprint;
  }

  /** Once for each content: it is looked at again at every interval. */
  function noteWaiting(fingerprint: string, version: string): void {
    if (waiting === fingerprint) return;
    waiting = fingerprint;
    log.warn(
      { policy_set: policySet, rollout_of: version },
      "the policy folder has changed, and is published when the rollout that runs has ended",
    );
  }

  return {
    async close() {
      for (const watcher of watchers) watcher.close();
      await publishing.close();
    },
  };
}

/** Watching only reduces delay: without it, the interval finds every change. */
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
