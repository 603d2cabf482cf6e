import type { Registration } from "../protocol/index.ts";
import { every, type Job, type JobLog } from "../runtime/every.ts";
import type { ControlPlaneClient } from "./client.ts";

/** What changes between two reports. */
export type RegisteredState = Pick<Registration, "policies" | "rollout" | "workers">;

export interface RegistrarOptions extends Pick<Registration, "id" | "kind" | "version"> {
  /** Known once the gateway listens. */
  readonly address: () => string;
  readonly intervalMs: number;
  readonly state: () => RegisteredState;
  /** Unix ms. */
  readonly clock?: () => number;
}

/** Beyond it, the log warns: tokens and records have times. */
const MAX_OFFSET_MS = 30_000;

/** Reports to the control plane what this gateway is and enforces, until it leaves. */
export class Registrar {
  readonly #options: RegistrarOptions;
  readonly #client: Pick<ControlPlaneClient, "register">;
  readonly #log: JobLog;
  readonly #clock: () => number;
  readonly #startedAt: string;
  #job: Job | undefined;
  #isOff = false;

  constructor(
    options: RegistrarOptions,
    { client, log }: { readonly client: Pick<ControlPlaneClient, "register">; readonly log: JobLog },
  ) {
    this.#options = options;
    this.#client = client;
    this.#log = log;
    this.#clock = options.clock ?? Date.now;
    this.#startedAt = new Date(this.#clock()).toISOString();
  }

  /** Never rejects. A gateway that cannot report goes on deciding. */
  start(): void {
    this.#job ??= every(this.#options.intervalMs, () => this.#report(false), {
      ...{ what: "report to the control plane", log: this.#log, now: true },
    });
  }

  /** Reports now, after a change that others should know of. */
  async now(): Promise<void> {
    await this.#job?.run();
  }

  /** Says that the gateway leaves, if the control plane responds. Never rejects. */
  async close(): Promise<void> {
    if (this.#job === undefined) return;
    await this.#job.close();
    await this.#report(true).catch(() => undefined);
  }

  async #report(leaving: boolean): Promise<void> {
    const { id, kind, version, address, intervalMs, state } = this.#options;
    const { clock_offset_ms: offset } = await this.#client.register({
      ...{ id, kind, version, address: address(), ...state() },
      ...{ started_at: this.#startedAt, sent_at: new Date(this.#clock()).toISOString() },
      ...{ interval_ms: intervalMs, leaving },
    });
    const isOff = Math.abs(offset) > MAX_OFFSET_MS;
    if (isOff && !this.#isOff && !leaving)
      this.#log.warn({ ahead_ms: offset }, "the clock of this machine differs from the control plane's");
    this.#isOff = isOff;
  }
}
