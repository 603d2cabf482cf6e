/** How many connections each holder has, as one process tells the others. */
export interface HeldMessage {
  readonly type: "connections_held";
  /** Index of the process. */
  readonly worker: number;
  /** Counts that hold from now on, by holder. */
  readonly counts: Readonly<Record<string, number>>;
  /** The process has just begun: what was known of it is over, and it wants to know about the others. */
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
  /** Sends to every process, this one included. */
  readonly broadcast: (message: HeldMessage) => void;
}

/**
 * Counts open connections by who holds them, over all processes: Envoy gives each handshake to another one. What others
 * have is known a moment later, so that of handshakes at the very same time a few too many may be let in; never more than
 * the limit by one process.
 */
export class ConnectionCounts {
  readonly #options: ConnectionCountsOptions;
  readonly #own = new Map<string, number>();
  readonly #others = new Map<number, Map<string, number>>();
  #changed = new Set<string>();

  constructor(options: ConnectionCountsOptions) {
    this.#options = options;
  }

  /** Tells the others that this process begins. */
  start(): void {
    const { broadcast, worker } = this.#options;
    broadcast({ type: "connections_held", worker, counts: Object.fromEntries(this.#own), fresh: true });
  }

  /** Connections of a holder, wherever they are looked after. */
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

  /** Takes what a process has told, this one included. */
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
