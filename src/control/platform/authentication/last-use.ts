import type { ControlContext } from "../context.ts";

/** More often nobody needs to know. */
const EVERY_MS = 60_000;

const COLUMNS = {
  api_keys: "last_used_at",
  clients: "last_used_at",
  dashboard_sessions: "last_seen_at",
} as const;

/** What is used, and when it was before. */
export interface Use {
  readonly table: keyof typeof COLUMNS;
  readonly id: string;
  readonly last: Date | null;
}

/**
 * Notes when keys and sessions were used last, at most once a minute, and beside the request that uses them: those of one turn
 * of the event loop by one statement. What gets lost is noted with the next one.
 */
export function createUseNotes({
  db,
  log,
}: Pick<ControlContext, "db" | "log">): (use: Use, now: Date) => void {
  const waiting: Readonly<Record<Use["table"], Set<string>>> = {
    api_keys: new Set(),
    clients: new Set(),
    dashboard_sessions: new Set(),
  };
  const underWay = new Set<string>();

  async function write(table: Use["table"], now: Date): Promise<void> {
    const ids = [...waiting[table]];
    waiting[table].clear();
    try {
      // one that is being changed is left out: nobody waits for a note
      await db.raw(
        "update ?? set ?? = ? where id in (select id from ?? where id = any(?) for update skip locked)",
        [table, COLUMNS[table], now, table, ids],
      );
    } catch (error) {
      log.warn({ err: error, ids: ids.length }, "when keys or sessions were used could not be noted");
    } finally {
      for (const id of ids) underWay.delete(id);
    }
  }

  return ({ table, id, last }, now) => {
    if ((last !== null && now.getTime() - last.getTime() < EVERY_MS) || underWay.has(id)) return;
    underWay.add(id);
    if (waiting[table].size === 0) setImmediate(() => void write(table, now));
    waiting[table].add(id);
  };
}
