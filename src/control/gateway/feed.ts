import type { BackgroundWork, ControlContext } from "../platform/context.ts";
import { ChangeSignal } from "./change-signal.ts";
import { SharedStates, type SharedState, type SharedStatesOptions } from "./shared-states.ts";
import { TurnQueue } from "./turn-queue.ts";

/** The response for a gateway. */
export interface FeedAnswer {
  readonly state: SharedState;
  /** The request has waited: its key may have been revoked meanwhile. */
  readonly waited: boolean;
}

/** The change feed for gateways; one per instance, shared by all polls. */
export interface GatewayFeed extends BackgroundWork {
  /**
   * @param after - the cursor of the gateway's last response
   * @param waitMs - how long to wait if there are no changes after it
   * @param gone - aborted when the gateway has disconnected
   * @param pages - whether a complete state may come in pages
   */
  read(after: string | undefined, waitMs: number, gone: AbortSignal, pages: boolean): Promise<FeedAnswer>;
  /** Waits for this gateway's turn: a thousand responses at once would delay all other requests. */
  turn(): Promise<void>;
}

export type GatewayFeedOptions = Omit<SharedStatesOptions, "db" | "clock">;

/** Opens no connection before a request waits. Closing it ends all waiting requests. */
export function createGatewayFeed(
  { db, clock, log }: Pick<ControlContext, "db" | "clock" | "log">,
  options: GatewayFeedOptions = {},
): GatewayFeed {
  const signal = new ChangeSignal(db, log);
  const states = new SharedStates({ db, clock, ...options });
  const turns = new TurnQueue();
  return {
    async read(after, waitMs, gone, pages) {
      const end = performance.now() + waitMs;
      const { interruptions } = signal;
      for (let waited = false; ; waited = true) {
        // taken before reading, so that a change that is committed meanwhile ends the wait
        const { generation } = signal;
        // a request that does not wait gets the state of now; without notifications, only reading shows changes
        const fresh = waitMs === 0 || !signal.isListening;
        const state = await states.read(after, generation, { fresh, pages });
        const left = end - performance.now();
        if (state.complete || state.cursor !== after || left <= 0 || gone.aborted || signal.closed)
          return { state, waited };
        if (signal.interruptions !== interruptions) return { state, waited };
        await signal.wait(generation, left, gone);
      }
    },
    turn: () => turns.take(),
    close: () => signal.close(),
  };
}
