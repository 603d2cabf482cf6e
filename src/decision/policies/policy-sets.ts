import { every, type Job } from "../../runtime/every.ts";
import type { CheckStatus } from "../../telemetry/check-status.ts";
import { createMetrics, type Metrics } from "../../telemetry/metrics.ts";
import type { Provisions } from "./not-provided.ts";
import type { PolicySource } from "./policy-source.ts";
import { PolicyStore } from "./policy-store.ts";
import type { Snapshot } from "./snapshot.ts";

export interface PolicySetsOptions {
  readonly source: PolicySource;
  readonly refreshIntervalMs: number;
  /** Paths that differ only in letter case are different resources. */
  readonly caseSensitive: boolean;
  /** What the configuration provides; what sets read beside it is logged. */
  readonly provisions?: Provisions;
  /**
   * Puts changes in force: a new version of a set, or null for one that nobody names any more. What it rejects stays as
   * it was, and is asked again at the next look.
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

/** A customer's set that was never loaded. */
const WHILE_ABSENT = "it is not in force, so customers whose policies name it are refused";

/** Sets that are named as failing. */
const MOST_NAMED = 3;

/** Sets that are compiled at a time: each has a thread meanwhile. */
const AT_ONCE = 2;

/**
 * The policy sets that customers' policies name, each as a {@link PolicyStore} keeps it: loaded when it is wanted, its
 * last good version in force, dropped when nobody names it any more. One that is wanted and was never loaded is absent,
 * which denies whatever it is asked about.
 */
export class PolicySets {
  readonly #options: PolicySetsOptions;
  readonly #metrics: Pick<Metrics, "customerPolicySets">;
  readonly #log: Log;
  /** Those of single sets are about the gateway's own set. */
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
      { what: "look at customers' policy sets", log: this.#log },
    );
  }

  /** @returns the set's version in force; `undefined` where it is not wanted or could not be loaded */
  get(name: string): Snapshot | undefined {
    return this.#kept.get(name)?.store.current;
  }

  /** Every set in force. */
  snapshots(): Snapshot[] {
    return [...this.#kept.values()].flatMap(({ store }) => store.current ?? []);
  }

  /** How it is with them; `undefined` where none is wanted. */
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

  /** From now on these sets are wanted, and no others. */
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

  /** Has these sets looked at. */
  #look(names: Iterable<string>): void {
    for (const name of names) this.#due.add(name);
    while (!this.#closed && this.#loading < AT_ONCE && this.#due.size > 0) void this.#load();
  }

  /** Resolves when every set that is wanted has been looked at. */
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
      // it may have been dropped while it was read
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
      // nobody names them: that workers still have them does no harm
      this.#log.error({ err: error }, "policy sets that are no longer named cannot be dropped");
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

  /** Takes what is due until nothing is. */
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
