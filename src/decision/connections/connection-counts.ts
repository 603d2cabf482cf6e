/** The number of connections per holder, as one process reports them to the others. */
export interface HeldMessage {
  readonly type: "connections_held";
  /** Index of the process. */
  readonly worker: number;
  /** Current counts by holder. */
  readonly counts: Readonly<Record<string, number>>;
  /** The process has just started: forget its earlier counts, and send it the others'. */
  readonly fresh?: true;
}

export function isHeldMessage(message: unknown): message is HeldMessage {
  if (typeof message !== "object" || message === null || !("type" in message)) return false;
  if (message.type !== "connections_held" || !("worker" in message) || !("counts" in message)) return false;
  const { counts } = message;
  if (typeof message.worker !== "number" || typeof counts !== "object" || counts === null) return false;
  return Object.values(counts).every((count) => Number.isSafeInteger(count));
}

export interface ConnectionCountsOptions {
  /** Index of this process. */
  readonly worker: number;
  /** Sends to every process, including this one. */
  readonly broadcast: (message: HeldMessage) => void;
}

/**
 * Counts open connections per holder across all processes, because Envoy distributes handshakes among them. The counts
 * of other processes arrive with a delay, so simultaneous handshakes may slightly exceed the limit; one process alone
 * never exceeds it.
 */
export class ConnectionCounts {
  readonly #options: ConnectionCountsOptions;
  readonly #own = new Map<string, number>();
  readonly #others = new Map<number, Map<string, number>>();
  #changed = new Set<string>();

  constructor(options: ConnectionCountsOptions) {
    this.#options = options;
  }

  /** Tells the others that this process has started. */
  start(): void {
    const { broadcast, worker } = this.#options;
    broadcast({ type: "connections_held", worker, counts: Object.fromEntries(this.#own), fresh: true });
  }

  /** Connections of a holder, in all processes. */
  of(holder: string): number {
    let sum = this.#own.get(holder) ?? 0;
    for (const counts of this.#others.values()) sum += counts.get(holder) ?? 0;
    return sum;
  }

  add(holder: string, change: 1 | -1): void {
    const count = (this.#own.get(holder) ?? 0) + change;
    if (count > 0) this.#own.set(holder, count);
    else this.#own.delete(holder);
    if (this.#changed.size === 0)
      setImmediate(() => {
        this.#tell();
      });
    this.#changed.add(holder);
  }

  /** Handles a report from any process, including this one. */
  take({ worker, counts, fresh }: HeldMessage): void {
    if (worker === this.#options.worker) return;
    let known = this.#others.get(worker);
    if (known === undefined || fresh === true) this.#others.set(worker, (known = new Map<string, number>()));
    for (const [holder, count] of Object.entries(counts))
      if (count > 0) known.set(holder, count);
      else known.delete(holder);
    if (fresh === true) {
      for (const holder of this.#own.keys()) this.#changed.add(holder);
      this.#tell();
    }
  }

  #tell(): void {
    const changed = this.#changed;
    this.#changed = new Set();
    if (changed.size === 0) return;
    const counts = Object.fromEntries([...changed].map((holder) => [holder, this.#own.get(holder) ?? 0]));
    this.#options.broadcast({ type: "connections_held", worker: this.#options.worker, counts });
  }
}
