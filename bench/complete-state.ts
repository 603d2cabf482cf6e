import { setTimeout as delay } from "node:timers/promises";
import { readFileSync } from "node:fs";
import { fork } from "node:child_process";
import { once } from "node:events";
import type { Database } from "../src/storage/index.ts";
import { PRODUCTION_ONLY, startControlPlaneProcess } from "../test/support/control-plane.ts";
import { withPlaneDatabase } from "../test/support/plane-database.ts";
import { effort, quick } from "./effort.ts";
import type { FollowedState } from "./complete-state-follower.ts";
import { startListing } from "./listing.ts";
import { percentile } from "./statistics.ts";

interface Row {
  readonly gateways: number;
  readonly entries: number;
  readonly pages: number;
  readonly largest_page_mb: number;
  readonly seconds: number;
  readonly gateway_memory_mb: number;
  readonly control_plane_memory_mb: number;
  readonly list_idle_p99_ms: number;
  readonly list_p99_ms: number;
  readonly failures: number;
}

const CUSTOMERS = effort(1_000_000);
const GATEWAYS = quick ? [1] : [1, 8];
const LIMIT = 10_000_000;

/**
 * How long a gateway that starts needs for the complete state of a million customers that all have a policy; what it and the control plane hold
 * in memory; and the response time of the API's list of customers meanwhile.
 */
export async function benchmarkCompleteState(): Promise<Row[]> {
  const plane = await startControlPlaneProcess({
    config: {
      api: {
        ...PRODUCTION_ONLY,
        rate_limits: { management: LIMIT, authentication: LIMIT, analytics: LIMIT },
      },
    },
  });
  try {
    const url = plane.url.production;
    const keys = {
      gateway: await plane.createKey("production", "gateway"),
      full: await plane.createKey("production", "full_access"),
    };
    return await withPlaneDatabase(plane, async (db) => {
      await fill(db);
      const rows: Row[] = [];
      for (const gateways of GATEWAYS)
        rows.push(await measure(gateways, { url, keys, pid: plane.process.pid ?? 0 }));
      return rows;
    });
  } finally {
    await plane.stop();
  }
}

async function fill(db: Database): Promise<void> {
  await db.raw(
    `insert into customers (id, name, name_key, status, allowed_return_urls, metadata, created_at, updated_at)
     select 'cus_' || lpad(n::text, 26, '0'), 'customer ' || n, 'customer ' || n, 'active', '{}', '{}', now(), now()
       from generate_series(1, ?::int) n`,
    [CUSTOMERS],
  );
  const policy = `pol_${"0".repeat(26)}`;
  await db.raw(
    `insert into policies (id, name, name_key, description, type, status, conditions, created_at, updated_at)
     values (?, 'policy', 'policy', '', 'authentication', 'active', '{"mfa_required": true, "max_session_duration": 28800}',
             now(), now())`,
    [policy],
  );
  await db.raw(
    `insert into policy_assignments (customer_id, policy_id, assigned_at) select id, ?, now() from customers`,
    [policy],
  );
  await db.raw("vacuum (analyze) customers, policies, policy_assignments, customer_counts");
}

interface Plane {
  readonly url: string;
  readonly keys: { readonly gateway: string; readonly full: string };
  readonly pid: number;
}

async function measure(count: number, { url, keys, pid }: Plane): Promise<Row> {
  const listing = startListing(url, keys.full);
  const memory = startWatching(pid);
  await delay(effort(5_000));
  const idle = listing.take();
  const followers = Array.from({ length: count }, () =>
    fork(new URL("./complete-state-follower.ts", import.meta.url), [url, keys.gateway]),
  );
  const states = await Promise.all(
    followers.map(async (child) => {
      const [state] = (await once(child, "message")) as [FollowedState];
      child.disconnect();
      return state;
    }),
  );
  const busy = listing.take();
  await listing.stop();
  const most = (of: (state: FollowedState) => number) => Math.max(...states.map(of));
  return {
    gateways: count,
    entries: most(({ entries }) => entries),
    pages: most(({ pages }) => pages),
    largest_page_mb: most(({ largestPage }) => largestPage) / 1e6,
    seconds: most(({ ms }) => ms) / 1_000,
    gateway_memory_mb: Math.round(most(({ memory: bytes }) => bytes) / 1e6),
    control_plane_memory_mb: Math.round((await memory.stop()) / 1e6),
    list_idle_p99_ms: Math.round(percentile(idle, 0.99)),
    list_p99_ms: Math.round(percentile(busy, 0.99)),
    failures: listing.failures() + states.filter(({ entries }) => entries < CUSTOMERS).length,
  };
}

/** The most resident memory of a process, looked at four times a second. */
function startWatching(pid: number) {
  let [most, stopped] = [0, false];
  const running = (async () => {
    while (!stopped) {
      const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
      most = Math.max(most, Number(kilobytes ?? 0) * 1_024);
      await delay(250);
    }
  })();
  return {
    async stop() {
      stopped = true;
      await running;
      return most;
    },
  };
}
