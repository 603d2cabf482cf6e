import type { Socket } from "node:net";
import type pg from "pg";

/** Members of `pg`'s client that its types do not declare. */
interface Internals {
  readonly connection: { readonly stream: Socket };
  /** No statement is running. */
  readonly readyForQuery: boolean;
}

/**
 * Closes a connection if a statement is running and not a byte arrives for this long. A server that hangs, or that a
 * network has cut off silently, would otherwise be waited for as long as the system allows, which is minutes or
 * forever. The caller gets `ETIMEDOUT`, and no pool uses the connection again.
 *
 * @param client - a connected one
 */
export function endWhenSilent(client: pg.Client, ms: number): void {
  const internals = client as unknown as Internals;
  // restarts with every byte in either direction, at no cost to a query
  internals.connection.stream.setTimeout(ms).on("timeout", () => {
    if (!internals.readyForQuery)
      breakOff(client, Object.assign(new Error("the database does not respond"), { code: "ETIMEDOUT" }));
  });
}

/** Closes a connection at once, without notifying the server. */
export function breakOff(client: pg.Client, error?: Error): void {
  (client as unknown as Internals).connection.stream.destroy(error);
}
