import { forAllCallers } from "../../../storage/index.ts";
import type { ControlContext } from "../context.ts";

/** The interval at which the last use is updated. */
const EVERY_MS = 60_000;

const COLUMNS = {
  api_keys: "last_used_at",
  clients: "last_used_at",
  dashboard_sessions: "last_seen_at",
} as const;

/** The key or session used, and its previous use. */
export interface Use {
  readonly table: keyof typeof COLUMNS;
  readonly id: string;
  readonly last: Date | null;
}

/**
 * Records the last use of keys and sessions, at most once per minute and outside the request. All uses in one turn of
 * the event loop share one statement. A lost update is made up for by the next one.
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
      // a locked row is skipped: this must never wait
      await db.raw(
        "update ?? set ?? = ? where id in (select id from ?? where id = any(?) for update skip locked)",
        [table, COLUMNS[table], now, table, ids],
      );
    } catch (error) {
      log.warn({ err: error, ids: ids.length }, "could not record the last use of keys or sessions");
    } finally {
      for (const id of ids) underWay.delete(id);
    }
  }

  return ({ table, id, last }, now) => {
    if ((last !== null && now.getTime() - last.getTime() < EVERY_MS) || underWay.has(id)) return;
    underWay.add(id);
    if (waiting[table].size === 0) setImmediate(() => void forAllCallers(() => write(table, now)));
    waiting[table].add(id);
  };
}
