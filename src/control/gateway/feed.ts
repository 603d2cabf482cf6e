import type { BackgroundWork, ControlContext } from "../platform/context.ts";
import { ChangeSignal } from "./change-signal.ts";
import { SharedStates, type SharedState } from "./shared-states.ts";
import { TurnQueue } from "./turn-queue.ts";

/** The response for a gateway. */
export interface FeedAnswer {
  readonly state: SharedState;
  /** Something else may have changed meanwhile: the key that asks, for one. */
  readonly waited: boolean;
}

/** The change feed for gateways; one per instance, shared by all that wait. */
export interface GatewayFeed extends BackgroundWork {
  /**
   * @param after - the cursor of the follower's last answer
   * @param waitMs - how long to wait where there is nothing after it
   * @param gone - aborted when nobody waits for the answer any more
   */
  read(after: string | undefined, waitMs: number, gone: AbortSignal): Promise<FeedAnswer>;
  /** Waits until it is this follower's turn to be answered: a thousand at once would keep everybody else waiting. */
  turn(): Promise<void>;
}

export interface GatewayFeedOptions {
  /** Changes in one answer. */
  readonly pageChanges?: number;
}

/** Opens no connection before somebody waits. Closing it answers all who wait. */
export function createGatewayFeed(
  { db, clock, log }: Pick<ControlContext, "db" | "clock" | "log">,
  options: GatewayFeedOptions = {},
): GatewayFeed {
  const signal = new ChangeSignal(db, log);
  const states = new SharedStates({ db, clock, ...options });
  const turns = new TurnQueue();
  return {
    async read(after, waitMs, gone) {
      const end = performance.now() + waitMs;
      const { interruptions } = signal;
      for (let waited = false; ; waited = true) {
        // before looking: a change that is committed meanwhile is then not waited for
        const { generation } = signal;
        // who does not wait is told what is there now; and where nobody listens, only looking tells what is new
        const fresh = waitMs === 0 || !signal.isListening;
        const state = await states.read(after, generation, fresh);
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
