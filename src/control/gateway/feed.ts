import type { BackgroundWork, ControlContext } from "../context.ts";
import { ChangeSignal } from "./change-signal.ts";
import { readState, type GatewayState } from "./read-state.ts";

/** What gateways follow; one for each instance, shared by all that wait. */
export interface GatewayFeed extends BackgroundWork {
  /**
   * @param after - the cursor of the follower's last answer
   * @param waitMs - how long to wait where there is nothing after it
   * @param gone - aborted when nobody waits for the answer any more
   */
  read(after: string | undefined, waitMs: number, gone: AbortSignal): Promise<GatewayState>;
}

/** Opens no connection before somebody waits. Closing it answers all who wait. */
export function createGatewayFeed({
  db,
  clock,
  log,
}: Pick<ControlContext, "db" | "clock" | "log">): GatewayFeed {
  const signal = new ChangeSignal(db, log);
  return {
    async read(after, waitMs, gone) {
      const end = performance.now() + waitMs;
      const { interruptions } = signal;
      for (;;) {
        // before looking: a change that is committed meanwhile is then not waited for
        const { generation } = signal;
        const state = await readState(db, after, new Date(clock()));
        const left = end - performance.now();
        if (state.complete || state.cursor !== after || left <= 0 || gone.aborted || signal.closed)
          return state;
        if (signal.interruptions !== interruptions) return state;
        await signal.wait(generation, left, gone);
      }
    },
    close: () => signal.close(),
  };
}
