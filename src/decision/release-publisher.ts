import { mkdirSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { PolicySetFile, ReleaseOrder, ReleaseReport } from "./release-messages.ts";
import type { Snapshot } from "./snapshot.ts";

/** The worker processes, as far as policies are concerned. */
export interface ReleaseWorkers {
  /** @returns false where the worker is not there to receive it */
  send(worker: number, order: ReleaseOrder): boolean;
}

/** Sets that have changed; null: a customer's that is no longer wanted. */
export interface PolicyChange {
  readonly main?: Snapshot;
  readonly customers?: Readonly<Record<string, Snapshot | null>>;
}

interface Log {
  info(object: object, message: string): void;
  warn(object: object, message: string): void;
}

export interface ReleasePublisherOptions {
  /** Folder for compiled sets that only this user can read; made where it is not there. */
  readonly directory: string;
  /** How long a worker may take to load a change; ms. */
  readonly prepareMs?: number;
  /** How far ahead the moment of a change is, so that every worker knows it in time; ms. */
  readonly leadMs?: number;
}

interface Request {
  readonly change: PolicyChange;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** What the workers have, or are to have. */
interface ReleaseFiles {
  readonly id: number;
  readonly main: PolicySetFile | undefined;
  readonly customers: ReadonlyMap<string, PolicySetFile>;
}

/** A large set takes a busy machine seconds to load. */
const PREPARE_MS = 30_000;
const LEAD_MS = 100;
/** How long workers may take to confirm the moment before that is logged. */
const CONFIRM_MS = 5_000;

/**
 * The supervisor's side of a change of policies; see `release-messages.ts`. Changes are published one after the other;
 * those that come meanwhile go together, and one by one where that fails, so that nobody's bad set holds up the others'.
 */
export class ReleasePublisher {
  readonly #workers: ReleaseWorkers;
  readonly #log: Log;
  readonly #options: Required<ReleasePublisherOptions>;
  /** The release that each worker has; those that have asked for none are not there. */
  readonly #known = new Map<number, number>();
  readonly #wanted = new Set<number>();
  #inForce: ReleaseFiles = { id: 0, main: undefined, customers: new Map() };
  #lastId = 0;
  #requests: Request[] = [];
  #running = false;
  #reports:
    | { readonly from: Set<number>; readonly take: (worker: number, report: ReleaseReport) => void }
    | undefined;

  constructor(
    options: ReleasePublisherOptions,
    dependencies: { readonly workers: ReleaseWorkers; readonly log: Log },
  ) {
    this.#options = { prepareMs: PREPARE_MS, leadMs: LEAD_MS, ...options };
    this.#workers = dependencies.workers;
    this.#log = dependencies.log;
    mkdirSync(options.directory, { recursive: true, mode: 0o700 });
  }

  /**
   * Resolves when every worker decides by the change, or will from a moment on that is at most `leadMs` away. Rejects
   * where a worker cannot load it; nothing has changed then. Changes of customers' sets alone resolve at once while there
   * is no main set.
   */
  publish(change: PolicyChange): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#requests.push({ change, resolve, reject });
      void this.#run();
    });
  }

  /** Takes what a worker reports. */
  take(worker: number, report: ReleaseReport): void {
    if (report.type === "release_wanted") {
      this.ended(worker); // a new process in its place has nothing
      this.#wanted.add(worker);
      void this.#run();
    } else this.#reports?.take(worker, report);
  }

  /** A worker's process has ended: nobody waits for it. */
  ended(worker: number): void {
    this.#known.delete(worker);
    this.#wanted.delete(worker);
    this.#reports?.take(worker, { type: "release_wanted" });
  }

  async #run(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    while (this.#requests.length > 0 || this.#canWelcome()) {
      await this.#welcome();
      await this.#publishAll(this.#requests.splice(0));
    }
    this.#running = false;
  }

  #canWelcome(): boolean {
    return this.#wanted.size > 0 && this.#inForce.main !== undefined;
  }

  /** Brings workers that have just started to the release in force. */
  async #welcome(): Promise<void> {
    if (!this.#canWelcome()) return;
    const workers = [...this.#wanted];
    this.#wanted.clear();
    await this.#deliver(this.#inForce, workers, 0).catch((error: unknown) => {
      // it is not ready, and says so; the next change, or its next life, tries again
      this.#log.warn({ err: error }, "a worker cannot load the policies in force");
    });
  }

  async #publishAll(requests: readonly Request[]): Promise<void> {
    if (requests.length === 0) return;
    try {
      await this.#change(requests.map(({ change }) => change));
      for (const { resolve } of requests) resolve();
    } catch (error) {
      if (requests.length === 1) requests[0]?.reject(error);
      else for (const request of requests) await this.#publishAll([request]);
    }
  }

  async #change(changes: readonly PolicyChange[]): Promise<void> {
    const next = await this.#withChanges(changes);
    const before = this.#inForce;
    try {
      if (next.main !== undefined) {
        const workers = [...new Set([...this.#known.keys(), ...this.#wanted])];
        this.#wanted.clear();
        await this.#deliver(next, workers, this.#options.leadMs);
      }
      this.#inForce = next;
    } finally {
      await this.#removeUnused([before, next]);
    }
  }

  /** What is in force with these changes, each new set in a file. */
  async #withChanges(changes: readonly PolicyChange[]): Promise<ReleaseFiles> {
    this.#lastId += 1;
    const customers = new Map(this.#inForce.customers);
    let { main } = this.#inForce;
    for (const change of changes) {
      if (change.main !== undefined) main = await this.#write(change.main);
      for (const [name, set] of Object.entries(change.customers ?? {})) {
        if (set === null) customers.delete(name);
        else customers.set(name, await this.#write(set));
      }
    }
    return { id: this.#lastId, main, customers };
  }

  async #write({ ir, label, digest }: Snapshot): Promise<PolicySetFile> {
    const file = join(this.#options.directory, `${digest}.json`);
    await writeFile(file, JSON.stringify(ir), { mode: 0o600 });
    return { file, label, digest };
  }

  async #removeUnused(releases: readonly ReleaseFiles[]): Promise<void> {
    const used = new Set(filesOf(this.#inForce));
    for (const file of new Set(releases.flatMap(filesOf)))
      if (!used.has(file)) await rm(file, { force: true });
  }

  /** Has the workers load a release, and then decide by it. Rejects where one of them cannot. */
  async #deliver(release: ReleaseFiles, workers: readonly number[], leadMs: number): Promise<void> {
    const loading = workers.filter((worker) => this.#workers.send(worker, this.#orderFor(worker, release)));
    const failures: string[] = [];
    const ended = new Set<number>();
    const silent = await this.#hear(loading, this.#options.prepareMs, (worker, report) => {
      if (report.type === "release_wanted") ended.add(worker);
      if (report.type !== "release_prepared" || report.id !== release.id) return false;
      if (report.error !== undefined) failures.push(`worker ${worker}: ${report.error}`);
      return true;
    });
    for (const worker of silent) failures.push(`worker ${worker} did not load it in time`);
    if (failures.length > 0) throw new Error(failures.join("; "));

    const at = Date.now() + leadMs;
    const ready = loading.filter(
      (worker) =>
        !ended.has(worker) && this.#workers.send(worker, { type: "release_activate", id: release.id, at }),
    );
    for (const worker of ready) this.#known.set(worker, release.id);
    const late: number[] = [];
    const unconfirmed = await this.#hear(ready, CONFIRM_MS, (worker, report) => {
      if (report.type !== "release_activated" || report.id !== release.id) return false;
      if (report.late && leadMs > 0) late.push(worker);
      return true;
    });
    if (late.length + unconfirmed.length > 0) {
      this.#log.warn(
        { workers: [...late, ...unconfirmed] },
        "workers changed their policies late: they are overloaded",
      );
    }
    // a timer may be a millisecond early
    await delay(Math.max(0, at - Date.now()) + 2);
  }

  /** A change of what the worker has, or all of it. */
  #orderFor(worker: number, release: ReleaseFiles): ReleaseOrder {
    const base = this.#inForce;
    const hasBase = this.#known.get(worker) === base.id;
    const known = hasBase ? base : { main: undefined, customers: new Map<string, PolicySetFile>() };
    const customers: Record<string, PolicySetFile | null> = {};
    for (const [name, set] of release.customers)
      if (!isSame(known.customers.get(name), set)) customers[name] = set;
    for (const name of known.customers.keys()) if (!release.customers.has(name)) customers[name] = null;
    return {
      type: "release_prepare",
      id: release.id,
      ...(hasBase && { base: base.id }),
      ...(release.main !== undefined && !isSame(known.main, release.main) && { main: release.main }),
      customers,
    };
  }

  /**
   * Waits for a report from each worker, but for those whose process ends.
   *
   * @param take - whether a report is the one that is waited for
   * @returns the workers that were silent
   */
  #hear(
    workers: readonly number[],
    timeoutMs: number,
    take: (worker: number, report: ReleaseReport) => boolean,
  ): Promise<readonly number[]> {
    const from = new Set(workers);
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        this.#reports = undefined;
        resolve([...from]);
      };
      const timer = setTimeout(end, timeoutMs);
      this.#reports = {
        from,
        take: (worker, report) => {
          if (!from.has(worker)) return;
          // a process that has ended reports no more
          if (!take(worker, report) && report.type !== "release_wanted") return;
          from.delete(worker);
          if (from.size === 0) end();
        },
      };
      if (from.size === 0) end();
    });
  }
}

function filesOf({ main, customers }: ReleaseFiles): readonly string[] {
  return [main, ...customers.values()].flatMap((set) => set?.file ?? []);
}

function isSame(one: PolicySetFile | undefined, other: PolicySetFile): boolean {
  return one?.digest === other.digest && one.label === other.label;
}
