import process from "node:process";
import type { SupervisorMessage, WorkerMessage } from "./worker-messages.ts";

export interface WorkerChannelOptions {
  /** What `collectMetrics` gets from this process; JSON. */
  readonly metrics?: () => unknown;
  /** Finishes what is under way, within `graceMs`. The process exits afterwards, whatever comes of it. */
  readonly drain: (graceMs: number) => Promise<void>;
  /** A message that the supervisor sent; JSON. */
  readonly onMessage?: (message: unknown) => void;
  readonly log: { error(object: object, message: string): void };
  /** How long a SIGTERM from outside lets work go on; ms. */
  readonly termGraceMs?: number;
}

/** A worker's line to its supervisor. */
export interface WorkerChannel {
  /** Says whether this process takes checks. */
  serving(is: boolean): void;
  /** Sends something for the supervisor's `onMessage`; JSON. */
  send(event: unknown): void;
}

const TERM_GRACE_MS = 5_000;
/** What a drain may take beyond its grace before the process ends anyway. */
const OVERTIME_MS = 1_500;
/** Without its supervisor a worker only flushes: whoever replaces the supervisor wants the socket. */
const ORPHAN_GRACE_MS = 250;
const ORPHAN_OVERTIME_MS = 500;

/**
 * Connects a forked worker to its supervisor and ties its life to it: it drains and exits when told so, on SIGTERM, and
 * when the supervisor is gone, however that died. SIGINT is ignored - a terminal sends it to the whole group, and the
 * supervisor decides in which order to stop.
 *
 * @throws when this process was not forked by a supervisor
 */
export function connectToSupervisor(options: WorkerChannelOptions): WorkerChannel {
  const { drain, log } = options;
  if (process.send === undefined || !process.connected) {
    throw new Error("a worker is started by its supervisor");
  }
  const send = (message: WorkerMessage) => {
    // The supervisor may go at any moment; "disconnect" then says so, and a message that misses it is no loss.
    if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
  };

  let stopping = false;
  const stop = (graceMs: number, overtimeMs = OVERTIME_MS) => {
    if (stopping) return;
    stopping = true;
    send({ type: "not_serving" });
    // A drain that hangs must not keep the socket.
    setTimeout(() => {
      log.error({}, "the worker could not finish in time");
      process.exit(1);
    }, graceMs + overtimeMs);
    Promise.resolve(graceMs)
      .then(drain)
      .then(
        () => process.exit(0),
        (error: unknown) => {
          log.error({ err: error }, "the worker could not drain");
          process.exit(1);
        },
      );
  };

  const answerMetrics = async (id: number): Promise<void> => {
    try {
      send({ type: "metrics", id, metrics: (await options.metrics?.()) ?? null });
    } catch (error) {
      log.error({ err: error }, "the worker's metrics cannot be read");
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
