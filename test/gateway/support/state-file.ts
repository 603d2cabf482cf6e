import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What the service says about open connections, as Lua reads it. */
export interface ConnectionsState {
  readonly epoch?: string;
  readonly at?: number;
  readonly closed?: Readonly<Record<string, { readonly code: number; readonly reason: string }>>;
  readonly plans?: Readonly<Record<string, string>>;
}

/** A state file that a test writes in the service's place. */
export async function openState() {
  const directory = await mkdtemp(join(tmpdir(), "gatehouse-state-"));
  const file = join(directory, "0.json");
  const write = async (change: ConnectionsState = {}) => {
    const now = Math.floor(Date.now() / 1000);
    await writeFile(
      `${file}.new`,
      JSON.stringify({ epoch: "e-1", at: now, closed: {}, plans: {}, ...change }),
    );
    await rename(`${file}.new`, file);
  };
  await write();
  const beat = setInterval(() => void (frozen ? undefined : write(current)), 2000);
  let current: ConnectionsState = {};
  let frozen = false;
  return {
    /** Goes along with a plan. */
    metadata: { state_file: file, state_epoch: "e-1" },
    async set(change: ConnectionsState): Promise<void> {
      current = change;
      frozen = change.at !== undefined;
      await write(change);
    },
    async remove(): Promise<void> {
      frozen = true;
      await rm(file);
    },
    async close(): Promise<void> {
      clearInterval(beat);
      await rm(directory, { recursive: true, force: true });
    },
  };
}
