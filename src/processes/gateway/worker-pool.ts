import { fork, type ChildProcess } from "node:child_process";
import { Backoff } from "../../runtime/backoff.ts";
import { inTime } from "../../runtime/in-time.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { SupervisorMessage, WorkerMessage } from "./worker-messages.ts";

export interface WorkerPoolOptions {
  readonly count: number;
  /** The module that each worker runs; it calls `connectToSupervisor`. */
  readonly entry: URL | string;
  /** Command line of a worker; the same at every restart, so that it reuses the same socket. */
  readonly argsFor: (index: number) => readonly string[];
  readonly log: {
    info(object: object, message: string): void;
    error(object: object, message: string): void;
  };
  readonly metrics: Pick<Metrics, "processRestarts">;
  readonly restart?: Partial<RestartPolicy>;
}

/** All in ms. */
export interface RestartPolicy {
  /** Delay before the first restart, reduced at random by up to half; doubled each time. */
  readonly firstDelay: number;
  readonly longestDelay: number;
  /** After a worker has lived this long, the back-off starts again from `firstDelay`. */
  readonly resetAfter: number;
  /** How many times a worker may die without ever having served before `ready` rejects. */
  readonly attempts: number;
}

const RESTART: RestartPolicy = { firstDelay: 100, longestDelay: 5_000, resetAfter: 30_000, attempts: 5 };

export interface WorkerInfo {
  readonly index: number;
  /** Undefined while the worker is not running. */
  readonly pid: number | undefined;
  readonly serving: boolean;
}

export interface WorkerPool {
  /** Resolves when all workers serve; rejects if one keeps dying before it ever has, or if the pool is closed. */
  ready(): Promise<void>;
  workers(): readonly WorkerInfo[];
  /** The metrics of each worker; workers that are dead, or silent for `timeoutMs` (1 s), are omitted. */
  collectMetrics(timeoutMs?: number): Promise<readonly { worker: number; metrics: unknown }[]>;
  /** Sends JSON to every live worker. */
  broadcast(message: unknown): void;
  /** Sends JSON to one worker. Returns false if it is not alive. */
  send(worker: number, message: unknown): boolean;
  /** Kills a worker that does not respond; it is restarted. */
  kill(worker: number): void;
  /** Calls `handler` with messages from workers. */
  onMessage(handler: (worker: number, event: unknown) => void): void;
  /** Called at every change of a worker's state. */
  onChange(handler: (worker: WorkerInfo) => void): void;
  /**
   * Announces the shutdown: workers that exit from now on are not restarted. A service manager's SIGTERM may reach the workers
   * before `close` does.
   */
  retire(): void;
  /** Drains all workers, then kills the remaining ones. Resolves when the last one has exited. */
  close(graceMs: number): Promise<void>;
}

/** Checks leave only short-lived garbage: a larger young generation means fewer collections (about 8 % more checks per second). */
const YOUNG_GENERATION = "--max-semi-space-size=32";

/** Time beyond a drain's grace period before a worker is killed; longer than the worker's own limit. */
const KILL_AFTER_MS = 2_500;

/** Starts `count` workers and keeps them running: a worker that exits is restarted, with back-off. */
export function startWorkerPool(options: WorkerPoolOptions): WorkerPool {
  const policy = { ...RESTART, ...options.restart };
  const readiness = Promise.withResolvers<undefined>();
  // Nobody may be waiting; later callers still get the rejection.
  readiness.promise.catch(() => undefined);
  const messageHandlers: ((worker: number, event: unknown) => void)[] = [];
  const changeHandlers: ((worker: WorkerInfo) => void)[] = [];
  const collections = new Map<number, (worker: number, metrics: unknown) => void>();
  let lastCollection = 0;
  let closing: Promise<void> | undefined;

  const workers = Array.from(
    { length: options.count },
    (_, index) =>
      new Worker(index, options, policy, {
        message: (message) => {
          if (message.type === "metrics") collections.get(message.id)?.(index, message.metrics);
          else if (message.type === "event")
            for (const handler of messageHandlers) handler(index, message.event);
        },
        change: (info) => {
          if (workers.every(({ serving }) => serving)) readiness.resolve(undefined);
          for (const handler of changeHandlers) handler(info);
        },
        hopeless: () => {
          readiness.reject(new Error(`worker ${index} keeps exiting before it serves`));
        },
      }),
  );
  for (const worker of workers) worker.start();

  const collect = async (timeoutMs: number) => {
    const id = (lastCollection += 1);
    const asked = new Set(
      workers.filter((worker) => worker.send({ type: "collect_metrics", id })).map(({ index }) => index),
    );
    const received: { worker: number; metrics: unknown }[] = [];
    const { promise, resolve } = Promise.withResolvers<undefined>();
    collections.set(id, (worker, metrics) => {
      if (asked.delete(worker)) received.push({ worker, metrics });
      if (asked.size === 0) resolve(undefined);
    });
    if (asked.size === 0) resolve(undefined);
    await inTime(promise, timeoutMs, undefined);
    collections.delete(id);
    return received.sort((one, other) => one.worker - other.worker);
  };

  const close = async (graceMs: number) => {
    readiness.reject(new Error("the workers have been stopped"));
    await Promise.all(workers.map((worker) => worker.close(graceMs)));
  };

  return {
    ready: async () => {
      await readiness.promise;
    },
    workers: () => workers.map((worker) => worker.info()),
    collectMetrics: (timeoutMs = 1_000) => collect(timeoutMs),
    broadcast: (message) => {
      for (const worker of workers) worker.send({ type: "message", message });
    },
    send: (index, message) => workers[index]?.send({ type: "message", message }) ?? false,
    kill: (index) => {
      workers[index]?.kill();
    },
    onMessage: (handler) => {
      messageHandlers.push(handler);
    },
    onChange: (handler) => {
      changeHandlers.push(handler);
    },
    retire: () => {
      for (const worker of workers) worker.retire();
    },
    close: (graceMs) => (closing ??= close(graceMs)),
  };
}

interface WorkerEvents {
  readonly message: (message: WorkerMessage) => void;
  readonly change: (info: WorkerInfo) => void;
  readonly hopeless: () => void;
}

/** One slot in the pool, across restarts of its process. */
class Worker {
  readonly index: number;
  serving = false;
  readonly #options: WorkerPoolOptions;
  readonly #policy: RestartPolicy;
  readonly #events: WorkerEvents;
  #child: ChildProcess | undefined;
  #restartTimer: NodeJS.Timeout | undefined;
  #startedAt = 0;
  readonly #backoff: Backoff;
  #failedStarts = 0;
  #everServed = false;
  #closed = false;
  #exited: (() => void) | undefined;

  constructor(index: number, options: WorkerPoolOptions, policy: RestartPolicy, events: WorkerEvents) {
    this.index = index;
    this.#options = options;
    this.#policy = policy;
    this.#events = events;
    this.#backoff = new Backoff({ firstMs: policy.firstDelay, longestMs: policy.longestDelay });
  }

  info(): WorkerInfo {
    return { index: this.index, pid: this.#child?.pid, serving: this.serving };
  }

  start(): void {
    const { entry, argsFor, log } = this.#options;
    this.#startedAt = performance.now();
    const child = fork(entry, [...argsFor(this.index)], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
      execArgv: [...process.execArgv, YOUNG_GENERATION],
    });
    this.#child = child;
    let over = false;
    const end = (cause: object) => {
      // A failed start may cause an error, an exit, or both.
      if (over) return;
      over = true;
      this.#ended(cause);
    };
    child.on("message", (message: WorkerMessage) => {
      if (over) return;
      if (message.type === "serving" || message.type === "not_serving")
        this.#setServing(message.type === "serving");
      else this.#events.message(message);
    });
    child.on("exit", (code, signal) => {
      end({ code, signal });
    });
    child.on("error", (error) => {
      // Also raised if a message cannot be sent: then the process is still alive, and its exit counts.
      if (child.pid === undefined) end({ err: error });
      else log.error({ err: error, worker: this.index }, "worker channel failed");
    });
    this.#events.change(this.info());
  }

  /** From now on it is not restarted when it exits. */
  retire(): void {
    this.#closed = true;
    clearTimeout(this.#restartTimer);
  }

  /** Returns false if there is no process to receive it. */
  send(message: SupervisorMessage): boolean {
    if (this.#child?.connected !== true) return false;
    this.#child.send(message, () => undefined);
    return true;
  }

  kill(): void {
    this.#child?.kill("SIGKILL");
  }

  close(graceMs: number): Promise<void> {
    this.retire();
    const child = this.#child;
    if (child === undefined) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(() => child.kill("SIGKILL"), graceMs + KILL_AFTER_MS);
      this.#exited = () => {
        clearTimeout(timer);
        resolve();
      };
      // A worker that has not installed its signal handler yet is ended by the signal.
      if (!this.send({ type: "drain", graceMs }) || !this.serving) child.kill("SIGTERM");
    });
  }

  #setServing(serving: boolean): void {
    if (serving) {
      this.#everServed = true;
      this.#failedStarts = 0;
    }
    this.serving = serving;
    this.#events.change(this.info());
  }

  #ended(cause: object): void {
    const { log, metrics } = this.#options;
    this.#child = undefined;
    this.#setServing(false);
    if (this.#closed) {
      this.#exited?.();
      return;
    }
    if (!this.#everServed && ++this.#failedStarts >= this.#policy.attempts) this.#events.hopeless();
    if (performance.now() - this.#startedAt >= this.#policy.resetAfter) this.#backoff.succeeded();
    const delay = this.#backoff.failed();
    log.error({ ...cause, worker: this.index, restart_in_ms: delay }, "worker exited; restarting");
    metrics.processRestarts.inc({ process: "worker" });
    this.#restartTimer = setTimeout(() => {
      this.start();
    }, delay);
  }
}
