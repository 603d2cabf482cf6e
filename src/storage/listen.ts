import type pg from "pg";
import { Backoff } from "../runtime/backoff.ts";
import { sleep } from "../runtime/sleep.ts";
import type { Database } from "./database.ts";
import { breakOff, endWhenSilent } from "./end-when-silent.ts";

/** How long the server may take to answer LISTEN. */
const SILENCE_MS = 10_000;
const LEAVE_MS = 1_000;
const RECONNECT = { firstMs: 200, longestMs: 2_000 };

export interface Listener {
  /** Called for each notification. */
  onNotification(payload: string | undefined): void;
  /** Called when notifications start to arrive; earlier ones are lost, so the listener must check for changes itself. */
  onListening(): void;
  /** Called when there is no connection, or it was lost; it is retried. */
  onLost?(error: unknown): void;
}

/** A channel with a listener. */
export interface Listening {
  /** Whether notifications are currently received. */
  readonly isListening: boolean;
  /** Closes the connection, even while it is being made. */
  close(): Promise<void>;
}

/**
 * Listens to a channel of the database over its own connection, because a pooled one could be given to another caller. It
 * reconnects after a loss.
 */
export function listen(db: Database, channel: string, listener: Listener): Listening {
  const closing = new AbortController();
  const { signal } = closing;
  const backoff = new Backoff(RECONNECT);
  let isListening = false;

  async function keepListening(): Promise<void> {
    while (!signal.aborted) {
      try {
        await listenOnce();
      } catch (error) {
        listener.onLost?.(error);
      }
      await sleep(backoff.failed(), { signal });
    }
  }

  /** Listens until the connection ends. */
  async function listenOnce(): Promise<void> {
    // configured like those of the pool, but not taken from it
    const client = await (db.client as { acquireRawConnection(): Promise<pg.Client> }).acquireRawConnection();
    const end = () => {
      void client.end().catch(() => undefined);
      // a server that hangs would never confirm the end
      setTimeout(breakOff, LEAVE_MS, client).unref();
    };
    const lost = new Promise<void>((resolve, reject) => {
      client.once("end", resolve);
      client.on("error", reject);
    });
    // it may be lost before anyone handles the error
    lost.catch(() => undefined);
    client.on("notification", ({ payload }) => {
      listener.onNotification(payload);
    });
    signal.addEventListener("abort", end);
    try {
      if (signal.aborted) return;
      endWhenSilent(client, SILENCE_MS);
      await client.query(`LISTEN ${client.escapeIdentifier(channel)}`);
      backoff.succeeded();
      isListening = true;
      listener.onListening();
      await lost;
    } finally {
      isListening = false;
      signal.removeEventListener("abort", end);
      end();
    }
  }

  const listening = keepListening();
  return {
    get isListening() {
      return isListening;
    },
    async close() {
      closing.abort();
      await listening;
    },
  };
}
