import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { PolicySetIR } from "../../policy/index.ts";
import { sleep } from "../../runtime/sleep.ts";
import type { CheckStatus } from "../../telemetry/check-status.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { Candidate, PolicyRelease, PoliciesInForce } from "./release.ts";
import {
  monotonicNow,
  type CandidateFile,
  type PolicySetFile,
  type ReleaseOrder,
  type ReleaseReport,
} from "./release-messages.ts";
import { createSnapshot, type Snapshot } from "./snapshot.ts";

export interface ReleaseReceiverDependencies {
  /** To the supervisor. */
  readonly send: (report: ReleaseReport) => void;
  readonly metrics: Pick<Metrics, "policySetInfo" | "policyReloadTime">;
  readonly log: { error(object: object, message: string): void };
  /** See {@link monotonicNow}. */
  readonly clock?: () => number;
}

interface NumberedRelease extends PolicyRelease {
  readonly id: number;
}

/** A loaded release, and when it takes effect; `at` is absent until the supervisor sets the time. */
interface NextRelease {
  readonly release: NumberedRelease;
  at?: number;
}

/** A worker's side of a change of policies; see `release-messages.ts`. */
export class ReleaseReceiver implements PoliciesInForce {
  readonly #caseSensitive: boolean;
  readonly #dependencies: ReleaseReceiverDependencies;
  readonly #clock: () => number;
  readonly #listeners: (() => void)[] = [];
  readonly #life = randomUUID();
  #current: NumberedRelease | undefined;
  #next: NextRelease | undefined;
  #timer: NodeJS.Timeout | undefined;
  #orders: Promise<void> = Promise.resolve();

  /** @param options.caseSensitive - paths that differ only in letter case are different resources */
  constructor(options: { readonly caseSensitive: boolean }, dependencies: ReleaseReceiverDependencies) {
    this.#caseSensitive = options.caseSensitive;
    this.#dependencies = dependencies;
    this.#clock = dependencies.clock ?? monotonicNow;
  }

  get current(): PolicyRelease | undefined {
    // the timer may fire late, but a request must already use the new release
    this.#changeWhenDue();
    return this.#current;
  }

  /** The health of this worker's policies. The supervisor reports why a set is not in force. */
  status(): CheckStatus {
    const current = this.current;
    if (current === undefined) return { ok: false, detail: "this worker has no policies yet" };
    return { ok: true, detail: `${current.main.label} is in force` };
  }

  afterChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Asks the supervisor for the policies in force. */
  start(): void {
    this.#dependencies.send({ type: "release_wanted", life: this.#life });
  }

  /** Handles messages of the supervisor in order. */
  take(order: ReleaseOrder): void {
    if (order.life !== this.#life) return; // for the previous process in this place
    this.#orders = this.#orders.then(() => this.#take(order));
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#next = undefined;
  }

  /** Never rejects: the next message is handled even if this one fails. */
  async #take(order: ReleaseOrder): Promise<void> {
    if (order.type === "release_activate") {
      this.#activate(order.id, order.at);
      return;
    }
    const { send, log } = this.#dependencies;
    const prepared = { type: "release_prepared", life: this.#life, id: order.id } as const;
    try {
      await this.#untilInForce();
      this.#next = { release: await this.#load(order) };
      send(prepared);
    } catch (error) {
      log.error({ err: error }, "this worker cannot load the policies");
      send({ ...prepared, error: String(error) });
    }
  }

  /** The next change builds on the previous one, which may take effect only in a few milliseconds. */
  async #untilInForce(): Promise<void> {
    for (let at = this.#changeWhenDue(); at !== undefined; at = this.#changeWhenDue()) {
      await sleep(Math.max(1, at - this.#clock()));
    }
  }

  #activate(id: number, at: number): void {
    if (this.#next?.release.id !== id) return; // a response to an earlier preparation, for which nothing was loaded
    this.#next.at = at;
    this.#dependencies.send({ type: "release_activated", life: this.#life, id, late: at < this.#clock() });
    this.#watchTheClock();
  }

  #watchTheClock(): void {
    clearTimeout(this.#timer);
    const at = this.#changeWhenDue();
    if (at === undefined) return;
    this.#timer = setTimeout(
      () => {
        this.#watchTheClock();
      },
      Math.max(1, at - this.#clock()),
    );
  }

  /** @throws if a file cannot be read, or the change is based on a release that this worker does not have */
  async #load({
    id,
    base,
    main,
    candidate,
    customers,
  }: ReleaseOrder & { type: "release_prepare" }): Promise<NumberedRelease> {
    const before = this.#current;
    if (base !== undefined && before?.id !== base) throw new Error(`release ${base} is not in force here`);
    const known = before === undefined ? [] : setsOf(before);
    const load = (set: PolicySetFile) => this.#snapshot(set, known);
    const changed = new Map(base === undefined ? [] : before?.customers);
    for (const [name, set] of Object.entries(customers)) {
      if (set === null) changed.delete(name);
      else changed.set(name, await load(set));
    }
    const own = main === undefined ? before?.main : await load(main);
    if (own === undefined) throw new Error("the release has no policy set");
    const kept = base === undefined ? undefined : before?.candidate;
    const rolledOut = candidate === undefined ? kept : await this.#candidate(candidate, known);
    return { id, main: own, ...(rolledOut && { candidate: rolledOut }), customers: changed };
  }

  async #candidate(file: CandidateFile | null, known: readonly Snapshot[]): Promise<Candidate | undefined> {
    if (file === null) return undefined;
    const { mode, percentage, stickyBy } = file;
    return { set: await this.#snapshot(file, known), mode, percentage, stickyBy, file: file.file };
  }

  async #snapshot({ file, label, digest }: PolicySetFile, known: readonly Snapshot[]): Promise<Snapshot> {
    const same = known.find((snapshot) => snapshot.digest === digest && snapshot.label === label);
    if (same !== undefined) return same;
    const ir = JSON.parse(await readFile(file, "utf8")) as PolicySetIR;
    const snapshot = createSnapshot(ir, { caseSensitive: this.#caseSensitive, digest });
    return { ...snapshot, label };
  }

  /** @returns the time at which the next release takes effect, if that is in the future */
  #changeWhenDue(): number | undefined {
    const next = this.#next;
    if (next?.at === undefined) return undefined;
    if (this.#clock() < next.at) return next.at;
    this.#next = undefined;
    this.#putInForce(next.release);
    return undefined;
  }

  #putInForce(release: NumberedRelease): void {
    this.#current = release;
    const { metrics, log } = this.#dependencies;
    const { label, digest } = release.main;
    metrics.policyReloadTime.setToCurrentTime();
    metrics.policySetInfo.reset();
    metrics.policySetInfo.set({ policy_set: label, digest }, 1);
    // a request may have triggered this, and must not wait for the listeners
    setImmediate(() => {
      for (const listener of this.#listeners) {
        try {
          listener();
        } catch (error) {
          log.error({ err: error }, "a listener to changes of policies failed");
        }
      }
    });
  }
}

function setsOf({ main, candidate, customers }: PolicyRelease): readonly Snapshot[] {
  return [main, ...(candidate === undefined ? [] : [candidate.set]), ...customers.values()];
}
