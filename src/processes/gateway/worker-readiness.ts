import type { CheckStatus } from "../../telemetry/check-status.ts";

/** From a worker to the supervisor whenever one of its checks changes: all of its checks. */
export interface ReadinessReport {
  readonly type: "readiness";
  readonly checks: Readonly<Record<string, CheckStatus>>;
}

/** From the supervisor to the workers: whether one of them is ready. */
export interface ReadyWorkers {
  readonly type: "ready_workers";
  readonly any: boolean;
}

export function isReadyWorkers(message: unknown): message is ReadyWorkers {
  return hasType(message, "ready_workers");
}

function isReadinessReport(message: unknown): message is ReadinessReport {
  return hasType(message, "readiness");
}

function hasType(message: unknown, type: string): boolean {
  return typeof message === "object" && message !== null && "type" in message && message.type === type;
}

export function isReady(checks: Readonly<Record<string, CheckStatus>>): boolean {
  return Object.values(checks).every(({ ok }) => ok);
}

/**
 * Whether a worker accepts requests. A ready one does. One that has policies but lacks something else (the issuer's keys,
 * say) can still decide on public rules. It accepts requests only if no other worker is ready; otherwise it leaves them to
 * the ready ones, which can decide on every rule.
 *
 * @param started - its first attempt to load what it needs has ended
 * @param anyReady - whether any worker is ready; `undefined` until the supervisor has reported it
 */
export function takesRequests(
  checks: Readonly<Record<string, CheckStatus>>,
  started: boolean,
  anyReady: boolean | undefined,
): boolean {
  return isReady(checks) || (started && checks["policies"]?.ok === true && anyReady === false);
}

/** The supervisor's view of its workers' readiness. */
export class WorkerReadiness {
  readonly #reports: (ReadinessReport["checks"] | undefined)[];
  readonly #broadcast: (message: ReadyWorkers) => void;
  #toldReady: boolean | undefined;

  constructor(workers: number, broadcast: (message: ReadyWorkers) => void) {
    this.#reports = Array.from({ length: workers }, () => undefined);
    this.#broadcast = broadcast;
  }

  /** How many workers are ready. */
  get ready(): number {
    return this.#reports.filter((checks) => checks !== undefined && isReady(checks)).length;
  }

  /** Handles a worker's message. @returns false if it is about something else */
  take(worker: number, message: unknown): boolean {
    if (!isReadinessReport(message)) return false;
    const isFirst = this.#reports[worker] === undefined;
    this.#reports[worker] = message.checks;
    this.#tell(isFirst);
    return true;
  }

  /** Called when a worker process has exited. */
  ended(worker: number): void {
    this.#reports[worker] = undefined;
    this.#tell(false);
  }

  /** @param again - a worker has not been notified yet */
  #tell(again: boolean): void {
    const any = this.ready > 0;
    if (any === this.#toldReady && !again) return;
    this.#toldReady = any;
    this.#broadcast({ type: "ready_workers", any });
  }

  /** Each check across all workers: ok if it is ok on all of them; otherwise what failed and, unless on all of them, where. */
  checks(): Readonly<Record<string, CheckStatus>> {
    const count = this.#reports.length;
    const workers = { ok: this.ready === count, detail: `${this.ready} of ${count} are ready` };
    const names = new Set(this.#reports.flatMap((checks) => Object.keys(checks ?? {})));
    const joined = [...names].map((name) => [name, this.#join(name)] as const);
    return { workers, ...Object.fromEntries(joined) };
  }

  #join(name: string): CheckStatus {
    const found = this.#reports.flatMap((checks, worker) => {
      const status = checks?.[name];
      return status === undefined ? [] : [{ worker, ...status }];
    });
    const ok = found.every((status) => status.ok);
    const telling = found.filter((status) => status.ok === ok);
    const details = [...new Set(telling.map(({ detail }) => detail))];
    const isEverywhere = telling.length === this.#reports.length;
    if (details.length === 1 && isEverywhere) return { ok, detail: details[0] ?? "" };
    return { ok, detail: telling.map(({ worker, detail }) => `worker ${worker}: ${detail}`).join("; ") };
  }
}
