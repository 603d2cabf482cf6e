import { every, type Job } from "../../runtime/every.ts";
import type { CheckStatus } from "../../telemetry/check-status.ts";
import { createMetrics, type Metrics } from "../../telemetry/metrics.ts";
import type { Provisions } from "./not-provided.ts";
import type { PolicySource } from "./policy-source.ts";
import { PolicyStore, type PolicyStoreOptions } from "./policy-store.ts";
import type { Snapshot } from "./snapshot.ts";

export interface PolicySetsOptions {
  readonly source: PolicySource;
  readonly refreshIntervalMs: number;
  /** Paths that differ only in letter case are different resources. */
  readonly caseSensitive: boolean;
  /** What the configuration provides. Reads of anything else are logged. */
  readonly provisions?: Provisions;
  /** Default: in a thread of its own. */
  readonly compile?: NonNullable<PolicyStoreOptions["compile"]>;
  /**
   * Puts changes in force: a new version of a set, or null for one that no policy names any more. If it rejects a set,
   * the earlier version stays, and the change is tried again at the next check.
   */
  readonly publish: (sets: Readonly<Record<string, Snapshot | null>>) => Promise<void>;
}

interface Log {
  info(object: object, message: string): void;
  warn(object: object, message: string): void;
  error(object: object, message: string): void;
}

interface Kept {
  readonly store: PolicyStore;
  readonly stopWatching: () => void;
}

/** Log text for a customer's set that was never loaded. */
const WHILE_ABSENT = "it is not in force, so requests of customers whose policies name it are denied";

/** Maximum number of failing sets to name. */
const MOST_NAMED = 3;

/** Maximum number of concurrent compilations: each needs a thread. */
const AT_ONCE = 2;

/**
 * The policy sets that customers' policies name, each as a {@link PolicyStore} keeps it: loaded when a policy names it,
 * kept at its last good version, and dropped when no policy names it any more. A set that was never loaded is absent,
 * which denies every request that needs it.
 */
export class PolicySets {
  readonly #options: PolicySetsOptions;
  readonly #metrics: Pick<Metrics, "customerPolicySets">;
  readonly #log: Log;
  /** The metrics of single sets are for the gateway's own set. */
  readonly #unseen = createMetrics();
  readonly #kept = new Map<string, Kept>();
  readonly #due = new Set<string>();
  readonly #looking: Job;
  #loading = 0;
  #idle: (() => void)[] = [];
  #closed = false;

  constructor(
    options: PolicySetsOptions,
    dependencies: { readonly metrics: Pick<Metrics, "customerPolicySets">; readonly log: Log },
  ) {
    this.#options = options;
    this.#metrics = dependencies.metrics;
    this.#log = dependencies.log;
    this.#looking = every(
      options.refreshIntervalMs,
      () => {
        this.#look([...this.#kept.keys()]);
      },
      { what: "check customers' policy sets", log: this.#log },
    );
  }

  /** @returns the set's version in force; `undefined` if no policy names it or it could not be loaded */
  get(name: string): Snapshot | undefined {
    return this.#kept.get(name)?.store.current;
  }

  /** Every set in force. */
  snapshots(): Snapshot[] {
    return [...this.#kept.values()].flatMap(({ store }) => store.current ?? []);
  }

  /** Their health; `undefined` if there are none. */
  status(): CheckStatus | undefined {
    if (this.#kept.size === 0) return undefined;
    const failing = [...this.#kept].filter(([, { store }]) => store.failing || store.current === undefined);
    if (failing.length === 0) return { ok: true, detail: `${this.#kept.size} are in force` };
    const named = failing
      .slice(0, MOST_NAMED)
      .map(([name, { store }]) => `\`${name}\`: ${store.status().detail}`);
    const more = failing.length - named.length;
    return { ok: false, detail: `${named.join("; ")}${more === 0 ? "" : `; and ${more} more`}` };
  }

  /** Sets the names of the sets to keep loaded; all others are dropped. */
  want(names: Iterable<string>): void {
    if (this.#closed) return;
    const wanted = new Set(names);
    const dropped = [...this.#kept.keys()].filter((name) => !wanted.has(name));
    for (const name of dropped) this.#drop(name);
    const added = [...wanted].filter((name) => !this.#kept.has(name));
    for (const name of added) this.#kept.set(name, this.#keep(name));
    this.#look(added);
    this.#count();
    if (dropped.length > 0) this.#publishDropped(dropped);
  }

  /** Checks these sets for changes. */
  #look(names: Iterable<string>): void {
    for (const name of names) this.#due.add(name);
    while (!this.#closed && this.#loading < AT_ONCE && this.#due.size > 0) void this.#load();
  }

  /** Resolves when every set has been checked once. */
  async settled(): Promise<void> {
    if (this.#loading === 0 && this.#due.size === 0) return;
    await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  close(): void {
    this.#closed = true;
    void this.#looking.close();
    this.#due.clear();
    for (const name of [...this.#kept.keys()]) this.#stop(name);
  }

  #keep(name: string): Kept {
    const { source } = this.#options;
    const store = new PolicyStore(
      { ...this.#options, policySet: name, whileAbsent: WHILE_ABSENT },
      { metrics: this.#unseen, log: this.#log },
    );
    store.beforeChange(async (snapshot) => {
      // it may have been dropped while it was being read
      if (this.#kept.get(name)?.store === store) await this.#options.publish({ [name]: snapshot });
    });
    store.afterChange(() => {
      if (this.#kept.get(name)?.store === store) this.#count();
    });
    const stopWatching = source.watch(name, () => {
      this.#look([name]);
    });
    return { store, stopWatching };
  }

  #publishDropped(names: readonly string[]): void {
    const sets = Object.fromEntries(names.map((name) => [name, null]));
    this.#options.publish(sets).catch((error: unknown) => {
      // no policy names them, so it is harmless that workers still have them
      this.#log.error({ err: error }, "cannot drop policy sets that are no longer used");
    });
  }

  #drop(name: string): void {
    this.#stop(name);
    this.#kept.delete(name);
    this.#due.delete(name);
  }

  #stop(name: string): void {
    const kept = this.#kept.get(name);
    kept?.store.close();
    kept?.stopWatching();
  }

  /** Processes due sets until none is left. */
  async #load(): Promise<void> {
    this.#loading += 1;
    for (let name = this.#next(); name !== undefined; name = this.#next()) {
      await this.#kept.get(name)?.store.refresh();
    }
    this.#count();
    this.#loading -= 1;
    if (this.#loading > 0) return;
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  #next(): string | undefined {
    const [name] = this.#due;
    if (name !== undefined) this.#due.delete(name);
    return name;
  }

  #count(): void {
    const loaded = this.snapshots().length;
    const stores = [...this.#kept.values()].map(({ store }) => store);
    const outdated = stores.filter(({ current, failing }) => current !== undefined && failing).length;
    this.#metrics.customerPolicySets.set({ state: "loaded" }, loaded);
    this.#metrics.customerPolicySets.set({ state: "missing" }, this.#kept.size - loaded);
    this.#metrics.customerPolicySets.set({ state: "outdated" }, outdated);
  }
}
