import { mkdirSync } from "node:fs";
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sleep } from "../../runtime/sleep.ts";
import {
  monotonicNow,
  type CandidateFile,
  type PolicySetFile,
  type ReleaseOrder,
  type ReleaseReport,
} from "./release-messages.ts";
import type { Candidate } from "./release.ts";
import type { Snapshot } from "./snapshot.ts";

/** The worker processes, as seen by the publisher. */
export interface ReleaseWorkers {
  /** @returns false if the worker is not running */
  send(worker: number, order: ReleaseOrder): boolean;
  /** Stops a process that does not respond, so that another one takes its place. */
  kill(worker: number): void;
}

/** Sets that have changed; null for a customer's set that is no longer used. */
export interface PolicyChange {
  readonly main?: Snapshot;
  /** Null: no candidate any more. */
  readonly candidate?: Candidate | null;
  readonly customers?: Readonly<Record<string, Snapshot | null>>;
}

interface Log {
  warn(object: object, message: string): void;
  error(object: object, message: string): void;
}

export interface ReleasePublisherOptions {
  /** Folder for compiled sets, readable only by this user; created if missing. */
  readonly directory: string;
  /** Timeout for a worker to load a change; ms. */
  readonly prepareMs?: number;
  /** How far ahead the switch time is set, so that every worker knows it in time; ms. */
  readonly leadMs?: number;
  /** Delay before retrying a worker that could not load the release in force; ms. */
  readonly retryMs?: number;
  /** Nothing reaches the workers before {@link ReleasePublisher.release}: what is published until then comes at once. */
  readonly held?: boolean;
}

interface Request {
  readonly change: PolicyChange;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** The release that the workers have or should have. */
interface ReleaseFiles {
  readonly id: number;
  readonly main: PolicySetFile | undefined;
  readonly candidate: CandidateFile | undefined;
  readonly customers: ReadonlyMap<string, PolicySetFile>;
}

/** One worker process that has asked for policies and is still running. */
interface Life {
  readonly worker: number;
  readonly life: string;
  /** The last release that it confirmed. */
  has: number | undefined;
  /** It could not load the release in force and will be retried. */
  failed: boolean;
}

/** A large set takes a busy machine seconds to load. */
const PREPARE_MS = 10_000;
const LEAD_MS = 100;
const RETRY_MS = 5_000;
/** How long workers may take to confirm the switch time before that is logged. */
const CONFIRM_MS = 5_000;

/**
 * The supervisor's side of a change of policies; see `release-messages.ts`. Changes are published one after the other.
 * Changes that arrive in the meantime are combined, or sent one by one if that fails, so that one bad set does not
 * block the others.
 */
export class ReleasePublisher {
  readonly #workers: ReleaseWorkers;
  readonly #log: Log;
  readonly #options: Required<ReleasePublisherOptions>;
  readonly #lives = new Map<number, Life>();
  #inForce: ReleaseFiles = { id: 0, main: undefined, candidate: undefined, customers: new Map() };
  #lastId = 0;
  #requests: Request[] = [];
  #running = false;
  #held: boolean;
  /** Notified of every report, and of every process that stops. */
  #listener: ((life: Life, report: ReleaseReport | "ended") => void) | undefined;

  constructor(
    options: ReleasePublisherOptions,
    dependencies: { readonly workers: ReleaseWorkers; readonly log: Log },
  ) {
    this.#options = { prepareMs: PREPARE_MS, leadMs: LEAD_MS, retryMs: RETRY_MS, held: false, ...options };
    this.#held = this.#options.held;
    this.#workers = dependencies.workers;
    this.#log = dependencies.log;
    mkdirSync(options.directory, { recursive: true, mode: 0o700 });
  }

  /**
   * Resolves when every worker that has policies uses the change; workers that have just started follow. Rejects if one
   * cannot load it; nothing has changed then. A worker that does not respond is stopped, so that another one takes its
   * place. Changes of customers' sets alone resolve at once while there is no main set.
   */
  publish(change: PolicyChange): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#requests.push({ change, resolve, reject });
      void this.#run();
    });
  }

  /** Ends the hold: workers get what was published. @returns when those that are there have it, or failed to load it */
  async release(): Promise<void> {
    this.#held = false;
    await this.#run();
  }

  /** Handles a worker's report. */
  take(worker: number, report: ReleaseReport): void {
    if (report.type === "release_wanted") {
      this.ended(worker);
      this.#lives.set(worker, { worker, life: report.life, has: undefined, failed: false });
      void this.#run();
      return;
    }
    const life = this.#lives.get(worker);
    if (life?.life === report.life) this.#listener?.(life, report);
  }

  /** Call when a worker's process has stopped: stops waiting for it. */
  ended(worker: number): void {
    const life = this.#lives.get(worker);
    if (life === undefined) return;
    this.#lives.delete(worker);
    this.#listener?.(life, "ended");
  }

  async #run(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    try {
      while (this.#requests.length > 0 || this.#newcomers().length > 0) {
        await this.#publishAll(this.#requests.splice(0));
        await this.#welcome(this.#newcomers());
      }
    } finally {
      this.#running = false;
    }
  }

  /** Worker processes that do not have the current release, if there is one. */
  #newcomers(): readonly Life[] {
    if (this.#held || this.#inForce.main === undefined) return [];
    return [...this.#lives.values()].filter(({ has, failed }) => has === undefined && !failed);
  }

  /**
   * Sends workers that have just started the release in force. They switch at once, because they have no earlier one.
   */
  async #welcome(newcomers: readonly Life[]): Promise<void> {
    for (const life of newcomers) {
      try {
        await this.#deliver(this.#inForce, [life], 0);
      } catch (error) {
        this.#log.error(
          { err: error, worker: life.worker },
          "a worker cannot load the policies in force; will retry",
        );
      }
      if (life.has !== undefined) continue;
      life.failed = true;
      setTimeout(() => {
        life.failed = false;
        void this.#run();
      }, this.#options.retryMs).unref();
    }
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
    this.#lastId += 1;
    const before = this.#inForce;
    let next: ReleaseFiles = { ...before, id: this.#lastId };
    try {
      next = await this.#withChanges(next, changes);
      if (next.main !== undefined && !this.#held) {
        const all = [...this.#lives.values()];
        const deciding = all.filter(({ has }) => has !== undefined);
        await this.#deliver(next, deciding.length > 0 ? deciding : all, this.#options.leadMs);
      }
      this.#inForce = next;
    } finally {
      await this.#removeUnused([before, next]);
    }
  }

  /** Creates the release with these changes, and a file for each new set. */
  async #withChanges(release: ReleaseFiles, changes: readonly PolicyChange[]): Promise<ReleaseFiles> {
    const customers = new Map(release.customers);
    let { main, candidate } = release;
    for (const change of changes) {
      if (change.main !== undefined) main = await this.#write(change.main);
      if (change.candidate === null) candidate = undefined;
      else if (change.candidate !== undefined) {
        const { set, mode, percentage, stickyBy } = change.candidate;
        candidate = { ...(await this.#write(set)), mode, percentage, stickyBy };
      }
      for (const [name, set] of Object.entries(change.customers ?? {})) {
        if (set === null) customers.delete(name);
        else customers.set(name, await this.#write(set));
      }
    }
    return { ...release, main, candidate, customers };
  }

  async #write({ ir, label, digest }: Snapshot): Promise<PolicySetFile> {
    const file = join(this.#options.directory, `${digest}.json`);
    // whole, or not at all: a thread in shadow may be reading it, of the release in force
    await writeFile(`${file}.next`, JSON.stringify(ir), { mode: 0o600 });
    await rename(`${file}.next`, file);
    return { file, label, digest };
  }

  async #removeUnused(releases: readonly ReleaseFiles[]): Promise<void> {
    const used = new Set(filesOf(this.#inForce));
    for (const file of new Set(releases.flatMap(filesOf))) {
      if (used.has(file)) continue;
      await rm(file, { force: true }).catch((error: unknown) => {
        this.#log.warn({ err: error }, "cannot delete a compiled policy set that is no longer in force");
      });
    }
  }

  /**
   * Has these workers load a release and switch to it at the same time. Rejects if one of them cannot load it, or none
   * responds.
   */
  async #deliver(release: ReleaseFiles, lives: readonly Life[], leadMs: number): Promise<void> {
    const loading = lives.filter((life) => this.#workers.send(life.worker, this.#orderFor(life, release)));
    const failures: string[] = [];
    const prepared: Life[] = [];
    const silent = await this.#hear(loading, this.#options.prepareMs, (life, report) => {
      if (report.type !== "release_prepared" || report.id !== release.id) return false;
      if (report.error === undefined) prepared.push(life);
      else {
        failures.push(`worker ${life.worker}: ${report.error}`);
        life.has = undefined; // send it the complete next release, whatever it has
      }
      return true;
    });
    if (silent.length > 0 && prepared.length === 0) failures.push("no worker loaded it in time");
    if (failures.length > 0) throw new Error(failures.join("; "));
    for (const { worker } of silent) {
      this.#log.error({ worker }, "a worker does not respond; stopping it");
      this.ended(worker);
      this.#workers.kill(worker);
    }
    await this.#activate(release.id, prepared, leadMs);
  }

  async #activate(id: number, prepared: readonly Life[], leadMs: number): Promise<void> {
    const at = monotonicNow() + leadMs;
    const ready = prepared.filter(
      (life) =>
        this.#isLive(life) &&
        this.#workers.send(life.worker, { type: "release_activate", life: life.life, id, at }),
    );
    const late: Life[] = [];
    const unconfirmed = await this.#hear(ready, CONFIRM_MS, (life, report) => {
      if (report.type !== "release_activated" || report.id !== id) return false;
      life.has = id;
      if (report.late && leadMs > 0) late.push(life);
      return true;
    });
    if (late.length + unconfirmed.length > 0) {
      const workers = [...late, ...unconfirmed].map(({ worker }) => worker);
      this.#log.warn({ workers }, "workers switched policies late: they are overloaded");
    }
    for (const life of unconfirmed) life.has = undefined;
    // timers may fire early
    while (monotonicNow() < at) await sleep(Math.ceil(at - monotonicNow()));
  }

  #isLive(life: Life): boolean {
    return this.#lives.get(life.worker) === life;
  }

  /** The change from the worker's release, or the complete release. */
  #orderFor({ life, has }: Life, release: ReleaseFiles): ReleaseOrder {
    const base = this.#inForce;
    const hasBase = has !== undefined && has === base.id;
    const known = hasBase ? base : NOTHING;
    const customers: Record<string, PolicySetFile | null> = {};
    for (const [name, set] of release.customers) {
      if (!isSame(known.customers.get(name), set)) customers[name] = set;
    }
    for (const name of known.customers.keys()) if (!release.customers.has(name)) customers[name] = null;
    return {
      type: "release_prepare",
      life,
      id: release.id,
      ...(hasBase && { base: base.id }),
      ...(release.main !== undefined && !isSame(known.main, release.main) && { main: release.main }),
      ...(!isSameCandidate(known.candidate, release.candidate) && { candidate: release.candidate ?? null }),
      customers,
    };
  }

  /**
   * Waits for a report from each of these processes, except those that stop.
   *
   * @param take - whether a report is the expected one
   * @returns the processes that did not report
   */
  #hear(
    lives: readonly Life[],
    timeoutMs: number,
    take: (life: Life, report: ReleaseReport) => boolean,
  ): Promise<readonly Life[]> {
    const from = new Set(lives.filter((life) => this.#isLive(life)));
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        this.#listener = undefined;
        resolve([...from]);
      };
      const timer = setTimeout(end, timeoutMs);
      this.#listener = (life, report) => {
        if (!from.has(life) || (report !== "ended" && !take(life, report))) return;
        from.delete(life);
        if (from.size === 0) end();
      };
      if (from.size === 0) end();
    });
  }
}

const NOTHING: Omit<ReleaseFiles, "id"> = { main: undefined, candidate: undefined, customers: new Map() };

function filesOf({ main, candidate, customers }: ReleaseFiles): readonly string[] {
  return [main, candidate, ...customers.values()].flatMap((set) => set?.file ?? []);
}

function isSame(one: PolicySetFile | undefined, other: PolicySetFile): boolean {
  return one?.digest === other.digest && one.label === other.label;
}

function isSameCandidate(one: CandidateFile | undefined, other: CandidateFile | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return (
    isSame(one, other) &&
    one.mode === other.mode &&
    one.percentage === other.percentage &&
    one.stickyBy === other.stickyBy
  );
}
