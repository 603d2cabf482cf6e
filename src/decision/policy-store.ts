import { renderDiagnostics } from "../policy/index.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { compileInThread, type Compilation } from "./compile-thread.ts";
import type { PolicySource, SourcedSet } from "./policy-source.ts";
import { createSnapshot, type Snapshot } from "./snapshot.ts";

/** Where the set comes from and how often it is looked at. */
export interface PolicyStoreOptions {
  readonly source: PolicySource;
  readonly policySet: string;
  readonly refreshIntervalMs: number;
  /** Paths that differ only in letter case are different resources. */
  readonly caseSensitive: boolean;
}

interface Log {
  info(object: object, message: string): void;
  error(object: object, message: string): void;
}

type PolicyMetrics = Pick<
  Metrics,
  "cacheHits" | "cacheMisses" | "policyReloads" | "policyReloadTime" | "policyReloadFailed" | "policySetInfo"
>;

/**
 * The policy set in force. A change is compiled aside and put in force by one assignment; a set that has an error
 * changes nothing, and the last good one stays.
 */
export class PolicyStore {
  readonly #options: PolicyStoreOptions;
  readonly #metrics: PolicyMetrics;
  readonly #log: Log;
  readonly #listeners: ((snapshot: Snapshot) => void | Promise<void>)[] = [];
  readonly #followers: (() => void)[] = [];
  #current: Snapshot | undefined;
  #seen = "";
  #loading: Promise<void> | undefined;
  #again = false;
  #stopWatching: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(
    options: PolicyStoreOptions,
    dependencies: { readonly metrics: PolicyMetrics; readonly log: Log },
  ) {
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
    const { source, policySet, refreshIntervalMs } = this.#options;
    // before the first look, so that nothing is missed in between
    this.#stopWatching = source.watch(policySet, () => void this.refresh());
    this.#timer = setInterval(() => void this.refresh(), refreshIntervalMs).unref();
    await this.refresh();
  }

  /** Looks at the source now. Calls that come while one is under way share the one after it. */
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
    this.#stopWatching?.();
  }

  async #refreshUntilQuiet(): Promise<void> {
    this.#again = false;
    try {
      const { source, policySet } = this.#options;
      await this.#load(await source.read(policySet, this.#seen));
    } catch (error) {
      this.#failed({ err: error }, "the policy set cannot be loaded");
    }
    if (this.#mustLookAgain()) await this.#refreshUntilQuiet();
  }

  /** Somebody asked while a look was under way: what it found may be older than what they know. */
  #mustLookAgain(): boolean {
    return this.#again && !this.#closed;
  }

  async #load(set: SourcedSet): Promise<void> {
    const { policySet, caseSensitive } = this.#options;
    if (set.fingerprint === this.#seen && this.#seen !== "") {
      this.#metrics.cacheHits.inc({ cache: "policy_sets" });
      this.#metrics.policyReloads.inc({ result: "unchanged" });
      return;
    }
    this.#metrics.cacheMisses.inc({ cache: "policy_sets" });
    const { ir, diagnostics }: Compilation =
      set.diagnostics.length > 0 ? set : await compileInThread(set.files, policySet);
    const report = diagnostics.length > 0 ? renderDiagnostics([...diagnostics], [...set.files]) : undefined;
    if (ir === undefined) {
      this.#seen = set.fingerprint;
      this.#failed(
        { policy_set: policySet, report },
        "the policy set has errors; the last good one stays in force",
      );
      return;
    }
    const made = createSnapshot(ir, { caseSensitive });
    const snapshot = set.version === undefined ? made : { ...made, label: `${ir.name}@${set.version}` };
    // a listener that throws is asked again at the next look: the set is not `seen` before it is in force
    for (const listener of this.#listeners) await listener(snapshot);
    this.#putInForce(snapshot);
    this.#seen = set.fingerprint;
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
}
