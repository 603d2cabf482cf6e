import { watch, type FSWatcher } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { renderDiagnostics } from "../policy/index.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { compileInThread, type Compilation } from "./compile-thread.ts";
import { readPolicyFolder, type PolicyFolder } from "./policy-folder.ts";
import { createSnapshot, type Snapshot } from "./snapshot.ts";

/** Where the set comes from and how often it is looked at. */
export interface PolicyStoreOptions {
  readonly directory: string;
  readonly policySet: string;
  readonly refreshIntervalMs: number;
  /** Paths that differ only in letter case are different resources. */
  readonly caseSensitive: boolean;
}

interface Log {
  info(object: object, message: string): void;
  error(object: object, message: string): void;
}

/** How long a folder must stay unchanged before it is read: an editor or a checkout may be half way through. */
const SETTLE_MS = 50;
/** A folder that never comes to rest is read all the same after this many looks. */
const SETTLE_LOOKS = 40;

/**
 * The policy set in force. A change is compiled aside and put in force by one assignment; a set that has an error
 * changes nothing, and the last good one stays.
 */
export class PolicyStore {
  readonly #options: PolicyStoreOptions;
  readonly #metrics: Metrics;
  readonly #log: Log;
  readonly #listeners: ((snapshot: Snapshot) => void | Promise<void>)[] = [];
  readonly #followers: (() => void)[] = [];
  #current: Snapshot | undefined;
  #seen = "";
  #loading: Promise<void> | undefined;
  #again = false;
  #watchers: FSWatcher[] = [];
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: PolicyStoreOptions, dependencies: { readonly metrics: Metrics; readonly log: Log }) {
    this.#options = options;
    this.#metrics = dependencies.metrics;
    this.#log = dependencies.log;
  }

  /** The set in force; `undefined` until a good one was loaded. */
  get current(): Snapshot | undefined {
    return this.#current;
  }

  /** Calls `listener` before each new set is put in force, and waits for it. */
  beforeChange(listener: (snapshot: Snapshot) => void | Promise<void>): void {
    this.#listeners.push(listener);
  }

  /** Calls `follower` after each new set was put in force. */
  afterChange(follower: () => void): void {
    this.#followers.push(follower);
  }

  /** Loads the set for the first time and goes on watching it. Never rejects; look at {@link current}. */
  async start(): Promise<void> {
    await this.refresh();
    this.#timer = setInterval(() => void this.refresh(), this.#options.refreshIntervalMs).unref();
    this.#watch();
  }

  /** Looks at the folder now. Calls that come while one is under way share the one after it. */
  async refresh(): Promise<void> {
    if (this.#loading !== undefined) {
      this.#again = true;
      return this.#loading;
    }
    this.#loading = this.#refreshUntilQuiet();
    try {
      await this.#loading;
    } finally {
      this.#loading = undefined;
    }
  }

  /** Stops watching. The set in force stays readable. */
  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
    for (const watcher of this.#watchers) watcher.close();
    this.#watchers = [];
  }

  async #refreshUntilQuiet(): Promise<void> {
    this.#again = false;
    try {
      await this.#load(await this.#readSettled());
    } catch (error) {
      this.#failed({ err: error }, "the policy set cannot be loaded");
    }
    if (this.#mustLookAgain()) await this.#refreshUntilQuiet();
  }

  /** Somebody asked while a look was under way: what it found may be older than what they know. */
  #mustLookAgain(): boolean {
    return this.#again && !this.#closed;
  }

  async #readSettled(): Promise<PolicyFolder> {
    const { directory, policySet } = this.#options;
    let folder = await readPolicyFolder(directory, policySet);
    if (folder.fingerprint === this.#seen && this.#seen !== "") return folder;
    for (let look = 0; look < SETTLE_LOOKS; look += 1) {
      await delay(SETTLE_MS);
      const next = await readPolicyFolder(directory, policySet);
      if (next.fingerprint === folder.fingerprint) break;
      folder = next;
    }
    return folder;
  }

  async #load(folder: PolicyFolder): Promise<void> {
    const { policySet, caseSensitive } = this.#options;
    if (folder.fingerprint === this.#seen && this.#seen !== "") {
      this.#metrics.cacheHits.inc({ cache: "policy_sets" });
      this.#metrics.policyReloads.inc({ result: "unchanged" });
      return;
    }
    this.#metrics.cacheMisses.inc({ cache: "policy_sets" });
    const { ir, diagnostics }: Compilation =
      folder.diagnostics.length > 0 ? folder : await compileInThread(folder.files, policySet);
    const report =
      diagnostics.length > 0 ? renderDiagnostics([...diagnostics], [...folder.files]) : undefined;
    if (ir === undefined) {
      this.#seen = folder.fingerprint;
      this.#failed(
        { policy_set: policySet, report },
        "the policy set has errors; the last good one stays in force",
      );
      return;
    }
    const snapshot = createSnapshot(ir, { caseSensitive });
    // a listener that throws is asked again at the next look: the set is not `seen` before it is in force
    for (const listener of this.#listeners) await listener(snapshot);
    this.#putInForce(snapshot);
    this.#seen = folder.fingerprint;
    for (const follower of this.#followers) follower();
    this.#log.info(
      {
        policy_set: snapshot.label,
        digest: snapshot.digest,
        rules: ir.rules.length,
        ...(report && { report }),
      },
      "policy set in force",
    );
  }

  #putInForce(snapshot: Snapshot): void {
    this.#current = snapshot;
    this.#metrics.policyReloads.inc({ result: "loaded" });
    this.#metrics.policyReloadTime.setToCurrentTime();
    this.#metrics.policyReloadFailed.set(0);
    this.#metrics.policySetInfo.reset();
    this.#metrics.policySetInfo.set({ policy_set: snapshot.label, digest: snapshot.digest }, 1);
  }

  #failed(context: object, message: string): void {
    this.#metrics.policyReloads.inc({ result: "failed" });
    this.#metrics.policyReloadFailed.set(1);
    this.#log.error(context, message);
  }

  /** Watching only saves waiting: where it is not available, the interval finds every change. */
  #watch(): void {
    const { directory, policySet } = this.#options;
    for (const path of [directory, `${directory}/${policySet}`]) {
      try {
        const watcher = watch(path, () => void this.refresh());
        watcher.on("error", () => {
          watcher.close();
        });
        this.#watchers.push(watcher.unref());
      } catch {
        continue;
      }
    }
  }
}
