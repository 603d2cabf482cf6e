/** A process of its own, like a gateway's worker that starts: follows the control plane at `argv[2]` with the key `argv[3]`. */
import { ControlPlaneClient, StateFeed } from "../src/sync/index.ts";
import { createMetrics } from "../src/telemetry/metrics.ts";

/** What the parent hears when the complete state is in force. */
export interface FollowedState {
  readonly ms: number;
  readonly pages: number;
  readonly entries: number;
  /** Bytes as JSON, of the largest page. */
  readonly largestPage: number;
  /** The most resident memory; bytes. */
  readonly memory: number;
}

const [, , url = "", key = ""] = process.argv;
const client = new ControlPlaneClient({ url, apiKey: key });
let [pages, largestPage, entries] = [0, 0, 0];
const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const feed = new StateFeed(
  { maxStaleMs: 3_600_000 },
  {
    client: {
      async state(...args) {
        const answer = await client.state(...args);
        pages += 1;
        entries += answer.customers.length;
        // the first full one stands for all: to measure each would take time
        if (pages === 1) largestPage = Buffer.byteLength(JSON.stringify(answer));
        return answer;
      },
    },
    metrics: createMetrics(),
    log,
  },
);
process.on("disconnect", () => process.exit());
const from = performance.now();
await feed.start();
const ms = performance.now() - from;
if (feed.current === undefined) throw new Error(`no complete state: ${feed.status().detail}`);
const memory = process.resourceUsage().maxRSS * 1_024;
process.send?.({ ms, pages, entries, largestPage, memory } satisfies FollowedState);
