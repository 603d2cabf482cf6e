import { spawn, type ChildProcess, type SpawnOptionsWithoutStdio } from "node:child_process";
import { once } from "node:events";
import { eventually, Hopeless } from "../../support/eventually.ts";

/** What a test has started, so that all of it ends with the test. */
export class Processes {
  readonly #children: ChildProcess[] = [];
  /** Those that lead a process group. */
  readonly #groups = new Set<ChildProcess>();

  /**
   * Starts a program, and waits until it is ready.
   *
   * @param isReady - is given what it has printed; may throw until then
   * @param boundMs - how long that may take
   */
  async start(
    program: string,
    args: readonly string[],
    options: SpawnOptionsWithoutStdio,
    isReady: (printed: string) => unknown,
    boundMs?: number,
  ): Promise<{ printed(): string }> {
    const child = spawn(program, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
    this.#children.push(child);
    if (options.detached === true) this.#groups.add(child);
    let printed = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => (printed += chunk.toString()));
    await eventually(
      `${args.slice(0, 3).join(" ")} is ready`,
      async () => {
        if (child.exitCode !== null) throw new Hopeless(`it ended: ${printed}`);
        return Boolean(await isReady(printed));
      },
      boundMs,
    );
    return { printed: () => printed };
  }

  /** Ends them, the last one first; one that has a process group as Ctrl-C does, with all that it has started. */
  async stop(): Promise<void> {
    for (const child of this.#children.toReversed()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const { pid } = child;
      if (pid !== undefined && this.#groups.has(child)) {
        // not `exit`: what it has started may hold its output a while longer
        const closed = once(child, "close");
        process.kill(-pid, "SIGINT");
        await closed;
        continue;
      }
      const exit = once(child, "exit");
      child.kill("SIGTERM");
      await exit;
    }
  }
}
