import process from "node:process";
import type { SupervisorMessage, WorkerMessage } from "./worker-messages.ts";

export interface WorkerChannelOptions {
  /** Returns the metrics of this process for `collectMetrics`; JSON. */
  readonly metrics?: () => unknown;
  /** Finishes current work within `graceMs`. The process exits afterwards in any case. */
  readonly drain: (graceMs: number) => Promise<void>;
  /** Handles a message from the supervisor; JSON. */
  readonly onMessage?: (message: unknown) => void;
  readonly log: { error(object: object, message: string): void };
  /** Grace period after a SIGTERM from outside; ms. */
  readonly termGraceMs?: number;
}

/** A worker's channel to its supervisor. */
export interface WorkerChannel {
  /** Reports whether this process accepts checks. */
  serving(is: boolean): void;
  /** Sends a message to the supervisor's `onMessage`; JSON. */
  send(event: unknown): void;
}

const TERM_GRACE_MS = 5_000;
/** Time beyond the grace period after which the process exits even if the drain hangs. */
const OVERTIME_MS = 1_500;
/** Without its supervisor a worker only flushes, because a new supervisor needs the socket. */
const ORPHAN_GRACE_MS = 250;
const ORPHAN_OVERTIME_MS = 500;

/**
 * Connects a forked worker to its supervisor. The worker drains and exits on request, on SIGTERM, and when the supervisor
 * has exited for any reason. SIGINT is ignored: a terminal sends it to the whole process group, and the supervisor decides
 * in which order to stop.
 *
 * @throws if this process was not forked by a supervisor
 */
export function connectToSupervisor(options: WorkerChannelOptions): WorkerChannel {
  const { drain, log } = options;
  if (process.send === undefined || !process.connected) {
    throw new Error("a worker can only be started by its supervisor");
  }
  const send = (message: WorkerMessage) => {
    // The supervisor may exit at any moment: "disconnect" reports it, and a message lost that way does not matter.
    if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
  };

  let stopping = false;
  const stop = (graceMs: number, overtimeMs = OVERTIME_MS) => {
    if (stopping) return;
    stopping = true;
    send({ type: "not_serving" });
    // A drain that hangs must not keep the socket open.
    setTimeout(() => {
      log.error({}, "worker did not drain in time; exiting");
      process.exit(1);
    }, graceMs + overtimeMs);
    Promise.resolve(graceMs)
      .then(drain)
      .then(
        () => process.exit(0),
        (error: unknown) => {
          log.error({ err: error }, "worker failed to drain");
          process.exit(1);
        },
      );
  };

  const answerMetrics = async (id: number): Promise<void> => {
    try {
      send({ type: "metrics", id, metrics: (await options.metrics?.()) ?? null });
    } catch (error) {
      log.error({ err: error }, "could not collect the worker's metrics");
    }
  };

  process.on("SIGINT", () => undefined);
  process.on("SIGTERM", () => {
    stop(options.termGraceMs ?? TERM_GRACE_MS);
  });
  process.on("disconnect", () => {
    stop(ORPHAN_GRACE_MS, ORPHAN_OVERTIME_MS);
  });
  process.on("message", (message: SupervisorMessage) => {
    switch (message.type) {
      case "drain":
        stop(message.graceMs);
        return;
      case "collect_metrics":
        void answerMetrics(message.id);
        return;
      case "message":
        options.onMessage?.(message.message);
        return;
      default:
    }
  });

  return {
    serving: (is) => {
      if (!stopping) send({ type: is ? "serving" : "not_serving" });
    },
    send: (event) => {
      send({ type: "event", event });
    },
  };
}
