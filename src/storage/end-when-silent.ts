import type { Socket } from "node:net";
import type pg from "pg";

/** What `pg` does not declare of its client. */
interface Internals {
  readonly connection: { readonly stream: Socket };
  /** Nothing is asked at the moment. */
  readonly readyForQuery: boolean;
}

/**
 * Gives a connection up when something is asked and not a byte comes for so long: a server that hangs, or that a network has cut off
 * without a word, would otherwise be waited for as long as the system lets it, which is minutes or for ever. Who asked gets
 * `ETIMEDOUT`, and no pool uses the connection again.
 *
 * @param client - one that is connected
 */
export function endWhenSilent(client: pg.Client, ms: number): void {
  const internals = client as unknown as Internals;
  // begins again with every byte in either direction: it costs a query nothing
  internals.connection.stream.setTimeout(ms).on("timeout", () => {
    if (!internals.readyForQuery)
      breakOff(client, Object.assign(new Error("the database did not respond"), { code: "ETIMEDOUT" }));
  });
}

/** Closes a connection at once, without the server. */
export function breakOff(client: pg.Client, error?: Error): void {
  (client as unknown as Internals).connection.stream.destroy(error);
}
