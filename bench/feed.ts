import { execFileSync, fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Database } from "../src/storage/index.ts";
import { apiClient, startControlPlaneProcess } from "../test/support/control-plane.ts";
import { withPlaneDatabase } from "../test/support/plane-database.ts";
import { temporaryDirectory } from "../test/support/temporary-directory.ts";
import { effort, quick } from "./effort.ts";
import type { Question, Reply } from "./followers.ts";
import { startListing } from "./listing.ts";
import { percentile } from "./statistics.ts";

interface Row {
  readonly code: string;
  readonly followers: number;
  readonly change_p50_ms: number;
  readonly change_p99_ms: number;
  readonly logout_p50_ms: number;
  readonly logout_p99_ms: number;
  readonly policy_p50_ms: number;
  readonly policy_p99_ms: number;
  readonly mb_sent: number;
  readonly not_heard: number;
  readonly failures: number;
  readonly list_idle_p99_ms: number;
  readonly list_p99_ms: number;
}

const FOLLOWERS = quick ? [20] : [50, 200, 1_000];
const CUSTOMERS = 10_000;
const CHANGES = 5;
const LOGOUTS = 5;
const EDITS = 3;
const LIMIT = 10_000_000;
/** Gateways that have not received a change by then count as missing. */
const PATIENCE_MS = 60_000;
const ROOT = fileURLToPath(new URL("..", import.meta.url));

/**
 * How long it takes until every gateway has received a change of one customer, the end of a session, and a change of a policy that
 * 10,000 customers have; and the response time of the API's list of customers meanwhile. `--before=<commit>` also measures that commit.
 */
export async function benchmarkFeed(): Promise<Row[]> {
  const commit = process.argv.find((argument) => argument.startsWith("--before="))?.slice("--before=".length);
  const rows = commit === undefined ? [] : await withCheckout(commit, (root) => measureCode(commit, root));
  return [...rows, ...(await measureCode("this", ROOT))];
}

/** Another commit beside this one, with the same packages. */
async function withCheckout<T>(commit: string, work: (root: string) => Promise<T>): Promise<T> {
  const root = await temporaryDirectory();
  const files = execFileSync("git", ["-C", ROOT, "archive", commit], { maxBuffer: 1e9 });
  execFileSync("tar", ["-x", "-C", root], { input: files });
  symlinkSync(join(ROOT, "node_modules"), join(root, "node_modules"));
  return work(root);
}

async function measureCode(code: string, root: string): Promise<Row[]> {
  const plane = await startControlPlaneProcess({
    program: join(root, "bin", "gatehouse.js"),
    config: { api: { rate_limits: { management: LIMIT, authentication: LIMIT, analytics: LIMIT } } },
  });
  try {
    const keys = {
      gateway: await plane.createKey("production", "gateway"),
      full: await plane.createKey("production", "full_access"),
    };
    return await withPlaneDatabase(plane, async (db) => {
      await fill(db);
      const rows: Row[] = [];
      for (const followers of FOLLOWERS)
        rows.push(await measure(code, followers, { db, url: plane.url.production, keys }));
      return rows;
    });
  } finally {
    await plane.stop();
  }
}

const customerId = (count: number) => `cus_${String(count).padStart(26, "0")}`;
const POLICY = `pol_${"0".repeat(26)}`;

/** Customers with one policy, and one without that is changed. */
async function fill(db: Database): Promise<void> {
  await db.raw(
    `insert into customers (id, name, name_key, status, allowed_return_urls, metadata, created_at, updated_at)
     select 'cus_' || lpad(n::text, 26, '0'), 'customer ' || n, 'customer ' || n, 'active', '{}', '{}', now(), now()
       from generate_series(0, ?::int) n`,
    [CUSTOMERS],
  );
  await db.raw(
    `insert into policies (id, name, name_key, description, type, status, conditions, created_at, updated_at)
     values (?, 'policy', 'policy', '', 'authentication', 'active', '{"max_session_duration": 28800}', now(), now())`,
    [POLICY],
  );
  await db.raw(
    `insert into policy_assignments (customer_id, policy_id, assigned_at)
     select id, ?, now() from customers where id <> ?`,
    [POLICY, customerId(0)],
  );
  await db.raw("vacuum (analyze) customers, policies, policy_assignments, customer_counts");
}

/** Sessions of one user, whose tokens gateways may still see; of a customer that is never suspended, which would end them. */
async function signIn(db: Database, sessions: number, round: number): Promise<string[]> {
  const suffix = (n: number) => `${round}x${n}`.padStart(26, "0");
  const user = `usr_${suffix(0)}`;
  await db.raw(
    `insert into users (id, customer_id, subject, status, profile, attributes, created_at, updated_at)
     values (?, ?, ?, 'active', '{}', '{}', now(), now())`,
    [user, customerId(1), user],
  );
  const ids = Array.from({ length: sessions }, (_, n) => `ses_${suffix(n)}`);
  for (const id of ids)
    await db.raw(
      `insert into sessions (id, customer_id, user_id, client_id, scope, amr, ip_address, user_agent, created_at, last_used_at,
         expires_at, alive_until, last_token_expires_at)
       values (?, ?, ?, 'bench', 'openid', '[]', '127.0.0.1', '', now(), now(), now() + interval '1 hour',
         now() + interval '1 hour', now() + interval '1 hour')`,
      [id, customerId(1), user],
    );
  return ids;
}

interface Plane {
  readonly db: Database;
  readonly url: string;
  readonly keys: { readonly gateway: string; readonly full: string };
}

async function measure(code: string, count: number, plane: Plane): Promise<Row> {
  const { url, keys } = plane;
  const call = apiClient(url, keys.full);
  const child = fork(new URL("./followers.ts", import.meta.url), [url, keys.gateway, String(count)]);
  const listed = startListing(url, keys.full);
  try {
    await once(child, "message");
    await allWait(child, count);
    const change = async (times: number, act: () => Promise<{ status: number }>) => {
      const heard: number[] = [];
      let [missed, failures, bytes] = [0, 0, 0];
      for (let n = 0; n < effort(times); n += 1) {
        await ask(child, { kind: "begin" });
        listed.count();
        const since = process.hrtime.bigint().toString();
        const { status } = await act();
        if (status !== 200) failures += 1;
        const { seq } = await plane.db("gateway_changes").max({ seq: "seq" }).first<{ seq: number }>();
        const reply = await allHeard(child, count, { kind: "heard", since, seq });
        listed.pause();
        heard.push(...(reply.heard ?? []));
        missed += count - (reply.heard?.length ?? 0);
        failures += reply.failures;
        bytes = Math.max(bytes, reply.bytes);
        await allWait(child, count);
      }
      return { heard, missed, failures, bytes };
    };
    await delay(effort(3_000));
    const idle = listed.take();
    // the first round warms up
    let status: "active" | "suspended" = "active";
    const suspend = () => {
      status = status === "active" ? "suspended" : "active";
      return call("PUT", `/customers/${customerId(0)}`, { status });
    };
    let seconds = 3_600 + count;
    const edit = () => {
      seconds += 1;
      return call("PUT", `/policies/${POLICY}`, { conditions: { max_session_duration: seconds } });
    };
    const sessions = await signIn(plane.db, LOGOUTS, count);
    const logOut = () => call("DELETE", `/sessions/${sessions.pop()}`);
    await change(1, suspend);
    const changed = await change(CHANGES, suspend);
    const loggedOut = await change(LOGOUTS, logOut);
    const edited = await change(EDITS, edit);
    const busy = listed.take();
    return {
      code,
      followers: count,
      change_p50_ms: Math.round(percentile(changed.heard, 0.5)),
      change_p99_ms: Math.round(percentile(changed.heard, 0.99)),
      logout_p50_ms: Math.round(percentile(loggedOut.heard, 0.5)),
      logout_p99_ms: Math.round(percentile(loggedOut.heard, 0.99)),
      policy_p50_ms: Math.round(percentile(edited.heard, 0.5)),
      policy_p99_ms: Math.round(percentile(edited.heard, 0.99)),
      mb_sent: edited.bytes / 1e6,
      not_heard: changed.missed + loggedOut.missed + edited.missed,
      failures: changed.failures + loggedOut.failures + edited.failures + listed.failures(),
      list_idle_p99_ms: Math.round(percentile(idle, 0.99)),
      list_p99_ms: Math.round(percentile(busy, 0.99)),
    };
  } finally {
    await listed.stop();
    child.disconnect();
  }
}

async function ask(child: ChildProcess, question: Question): Promise<Reply> {
  child.send(question);
  const [reply] = (await once(child, "message")) as [Reply];
  return reply;
}

async function allWait(child: ChildProcess, count: number): Promise<void> {
  for (let left = PATIENCE_MS; left > 0; left -= 200) {
    await delay(200);
    if ((await ask(child, { kind: "waiting" })).waiting === count) break;
  }
  // all have asked; and now all are waited for over there
  await delay(2_000);
}

async function allHeard(child: ChildProcess, count: number, question: Question): Promise<Reply> {
  for (const end = performance.now() + PATIENCE_MS; ;) {
    const reply = await ask(child, question);
    if (reply.heard?.length === count || performance.now() > end) return reply;
    await delay(50);
  }
}
