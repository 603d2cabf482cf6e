import type pg from "pg";
import { Backoff } from "../runtime/backoff.ts";
import { sleep } from "../runtime/sleep.ts";
import type { Database } from "./database.ts";
import { breakOff, endWhenSilent } from "./end-when-silent.ts";

/** How long the server may say nothing to being asked for notifications. */
const SILENCE_MS = 10_000;
const LEAVE_MS = 1_000;
const RECONNECT = { firstMs: 200, longestMs: 2_000 };

export interface Listener {
  /** A notification has come. */
  onNotification(payload: string | undefined): void;
  /** Notifications come from now on; those of the time before are lost, so whoever needs them looks by himself. */
  onListening(): void;
  /** There is no connection, or no longer; it is tried again. */
  onLost?(error: unknown): void;
}

/** A channel that is listened to. */
export interface Listening {
  /** Whether notifications come at the moment. */
  readonly isListening: boolean;
  /** Ends the connection, also one that is being made. */
  close(): Promise<void>;
}

/**
 * Listens to a channel of the database over a connection of its own: one of the pool could be given to somebody else. It comes
 * back after it was lost.
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
    // like those of the pool, and not one of them: it would be missing there
    const client = await (db.client as { acquireRawConnection(): Promise<pg.Client> }).acquireRawConnection();
    const end = () => {
      void client.end().catch(() => undefined);
      // a server that hangs would never take its leave
      setTimeout(breakOff, LEAVE_MS, client).unref();
    };
    const lost = new Promise<void>((resolve, reject) => {
      client.once("end", resolve);
      client.on("error", reject);
    });
    // it may be lost before anybody looks
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
