import { setTimeout as delay } from "node:timers/promises";
import { apiClient } from "../test/support/control-plane.ts";

/** Between two requests for the list. */
const LIST_EVERY_MS = 20;

/** Asks for the list of customers again and again, one request at a time, and keeps what those took that are to count. */
export function startListing(url: string, key: string) {
  const call = apiClient(url, key);
  let times: number[] = [];
  let failed = 0;
  const state = { isCounting: true, stopped: false };
  const running = (async () => {
    while (!state.stopped) {
      const from = performance.now();
      const { status } = await call("GET", "/customers");
      if (state.isCounting) times.push(performance.now() - from);
      if (status !== 200) failed += 1;
      await delay(LIST_EVERY_MS);
    }
  })();
  return {
    count: () => (state.isCounting = true),
    pause: () => (state.isCounting = false),
    take() {
      const taken = times;
      times = [];
      return taken;
    },
    failures: () => failed,
    async stop() {
      state.stopped = true;
      await running;
    },
  };
}
