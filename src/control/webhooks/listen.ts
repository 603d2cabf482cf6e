import type { Knex } from "knex";
import type pg from "pg";

const AGAIN_MS = 1_000;

/**
 * Listens to a channel of the database, with a connection of its own: one of the pool could be given to somebody else.
 * It comes back after it was lost. Notifications of the time between are lost as well, so whoever listens looks for
 * himself now and then; `hear` is called when the connection stands, too.
 */
export function listen(db: Knex, channel: string, hear: () => void): { close(): Promise<void> } {
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const connect = async (): Promise<void> => {
    try {
      // like those of the pool, and not one of them
      client = await (db.client as { acquireRawConnection(): Promise<pg.Client> }).acquireRawConnection();
      // `end` follows every error of a connection that stood
      client.on("error", () => undefined);
      client.once("end", again);
      client.on("notification", hear);
      await client.query(`LISTEN ${client.escapeIdentifier(channel)}`);
      hear();
    } catch {
      await client?.end().catch(() => undefined);
      again();
    }
  };

  const again = (): void => {
    if (closed || timer !== undefined) return;
    timer = setTimeout(() => {
      timer = undefined;
      connecting = connect();
    }, AGAIN_MS);
  };

  let connecting = connect();
  return {
    async close() {
      closed = true;
      clearTimeout(timer);
      await connecting;
      await client?.end().catch(() => undefined);
    },
  };
}
