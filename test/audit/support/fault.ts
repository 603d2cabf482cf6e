import type { Destination, WriteError, WriteResult } from "../../../src/audit/destination.ts";

/** A destination in memory whose faults are chosen: how many lines each write takes, and the error it ends with. */
export class FaultyDestination implements Destination {
  readonly lines: string[] = [];
  closed = false;
  /** How the next writes go; without one, they take everything. */
  script: { take: number; error?: WriteError }[] = [];
  /** While set, every write fails. */
  broken: WriteError | undefined;
  /** While set, writes do not come back. */
  hanging = false;
  #release: (() => void)[] = [];
  #writing = false;

  async write(lines: readonly string[]): Promise<WriteResult> {
    if (this.#writing) throw new Error("two writes at a time");
    this.#writing = true;
    await new Promise<void>((resolve) => {
      if (this.hanging) this.#release.push(resolve);
      else setImmediate(resolve);
    });
    this.#writing = false;
    if (this.broken !== undefined) return { written: 0, error: this.broken };
    const step = this.script.shift() ?? { take: lines.length };
    const taken = lines.slice(0, step.take);
    this.lines.push(...taken);
    return { written: taken.length, ...(step.error && { error: step.error }) };
  }

  release(): void {
    this.hanging = false;
    for (const resolve of this.#release.splice(0)) resolve();
  }

  close(): Promise<void> {
    this.closed = true;
    return Promise.resolve();
  }
}

export const DISK_FULL: WriteError = { busy: false, code: "ENOSPC", message: "no space left on device" };
export const BUSY: WriteError = { busy: true, code: "EAGAIN", message: "try again" };
