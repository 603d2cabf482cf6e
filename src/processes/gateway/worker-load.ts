import { performance, type EventLoopUtilization } from "node:perf_hooks";

/** From a worker to its supervisor: the share of the last interval in which its event loop was busy. */
export interface WorkerLoadMessage {
  readonly type: "worker_load";
  readonly utilization: number;
}

/** Above this, a worker's checks wait for it. The process's share of the CPU may be small. */
const BUSY = 0.5;

/** @returns one step, to be repeated: reports the utilization since the last one, if it has changed by a tenth */
export function createLoadReporter(
  send: (message: WorkerLoadMessage) => void,
  measure: () => EventLoopUtilization = () => performance.eventLoopUtilization(),
): () => void {
  let last = measure();
  let reported = 0;
  return () => {
    const now = measure();
    const utilization = Math.round(performance.eventLoopUtilization(now, last).utilization * 10) / 10;
    last = now;
    if (utilization === reported) return;
    reported = utilization;
    send({ type: "worker_load", utilization });
  };
}

/** What the workers have reported about their load. */
export class WorkerLoads {
  readonly #utilization = new Map<number, number>();

  /** @returns whether the message is about load. It comes from one of our processes, but through JSON. */
  take(worker: number, message: unknown): boolean {
    if (typeof message !== "object" || message === null) return false;
    const { type, utilization } = message as Readonly<Record<string, unknown>>;
    if (type !== "worker_load" || typeof utilization !== "number") return false;
    this.#utilization.set(worker, utilization);
    return true;
  }

  ended(worker: number): void {
    this.#utilization.delete(worker);
  }

  /** Whether the workers are busy on average; also if none has reported anything. */
  get busy(): boolean {
    const known = [...this.#utilization.values()];
    return known.length === 0 || known.reduce((sum, one) => sum + one, 0) / known.length >= BUSY;
  }
}
