import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What the service says about open connections, as Lua reads it. */
export interface ConnectionsState {
  readonly epoch?: string;
  readonly at?: number;
  readonly closed?: Readonly<Record<string, { readonly code: number; readonly reason: string }>>;
  readonly plans?: Readonly<Record<string, string>>;
  readonly newest?: string;
  readonly slots?: string;
}

/** A state file that a test writes in the service's place. */
export async function openState() {
  const directory = await mkdtemp(join(tmpdir(), "gatehouse-state-"));
  const file = join(directory, "0.json");
  const write = async (change: ConnectionsState) => {
    const now = Math.floor(Date.now() / 1000);
    await writeFile(
      `${file}.new`,
      JSON.stringify({ epoch: "e-1", at: now, closed: {}, plans: {}, ...change }),
    );
    await rename(`${file}.new`, file);
  };
  let current: ConnectionsState = {};
  let frozen = false;
  let last: Promise<void> = Promise.resolve();
  // one after the other: two at once would take the new file away from each other
  const next = (step: () => Promise<void>): Promise<void> => {
    const done = last.then(step);
    last = done.catch(() => undefined);
    return done;
  };
  await write(current);
  const beat = setInterval(() => {
    void next(() => (frozen ? Promise.resolve() : write(current)));
  }, 2000);
  return {
    /** Goes along with a plan. */
    metadata: { state_file: file, state_epoch: "e-1" },
    async set(change: ConnectionsState): Promise<void> {
      current = change;
      frozen = change.at !== undefined;
      await next(() => write(change));
    },
    async remove(): Promise<void> {
      frozen = true;
      await next(() => rm(file));
    },
    async close(): Promise<void> {
      clearInterval(beat);
      await last;
      await rm(directory, { recursive: true, force: true });
    },
  };
}
