import type { ControlContext } from "../context.ts";

/** More often nobody needs to know. */
const EVERY_MS = 60_000;

const COLUMNS = { api_keys: "last_used_at", dashboard_sessions: "last_seen_at" } as const;

/** What is used, and when it was before. */
export interface Use {
  readonly table: keyof typeof COLUMNS;
  readonly id: string;
  readonly last: Date | null;
}

/**
 * Notes when keys and sessions were used last, at most once a minute, and beside the request that uses them. What gets
 * lost is noted with the next one.
 */
export function createUseNotes({
  db,
  log,
}: Pick<ControlContext, "db" | "log">): (use: Use, now: Date) => void {
  const underWay = new Set<string>();
  return ({ table, id, last }, now) => {
    if ((last !== null && now.getTime() - last.getTime() < EVERY_MS) || underWay.has(id)) return;
    underWay.add(id);
    db(table)
      .where({ id })
      .update({ [COLUMNS[table]]: now })
      .catch((error: unknown) => {
        log.warn({ err: error, id }, "when a key or session was used could not be noted");
      })
      .finally(() => underWay.delete(id));
  };
}
