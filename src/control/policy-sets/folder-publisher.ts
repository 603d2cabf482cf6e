import { watch, type FSWatcher } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { readPolicyFolder } from "../../decision/policies/policy-folder.ts";
import type { BackgroundWork } from "../context.ts";
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
  const watchers = watchAll([directory, `${directory}/${policySet}`], look);
  let seen: string | undefined;
  let looking: Promise<void> | undefined;
  let again = false;
  let closed = false;
  const timer = setInterval(look, intervalMs).unref();
  look();

  function look(): void {
    again = true;
    looking ??= lookUntilQuiet().finally(() => (looking = undefined));
  }

  async function lookUntilQuiet(): Promise<void> {
    while (again && !closed) {
      again = false;
      try {
        await publishIfChanged();
      } catch (error) {
        onAttempt?.(true);
        log.error(
          { err: error, policy_set: policySet },
          "the policy folder could not be published; it is tried again",
        );
      }
    }
  }

  async function publishIfChanged(): Promise<void> {
    const folder = await readPolicyFolder(directory, policySet);
    if (folder.fingerprint === seen) return;
    await delay(SETTLE_MS);
    const settled = await readPolicyFolder(directory, policySet);
    if (settled.fingerprint !== folder.fingerprint) {
      again = true;
      return;
    }
    const { kind } = await publishFiles(dependencies, settled, policySet, sourceOf(directory));
    onAttempt?.(kind === "invalid");
    // not before it is published: a failure is tried again
    seen = settled.fingerprint;
  }

  return {
    async close() {
      closed = true;
      clearInterval(timer);
      for (const watcher of watchers) watcher.close();
      await looking;
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
