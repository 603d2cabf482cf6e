import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { Database } from "../src/storage/index.ts";
import { apiClient, startControlPlaneProcess } from "../test/support/control-plane.ts";
import { eventually } from "../test/support/eventually.ts";
import { withPlaneDatabase } from "../test/support/plane-database.ts";
import { effort, quick } from "./effort.ts";
import { percentile } from "./statistics.ts";

/** One row of the table: a healthy webhook and the sandbox, beside deliveries of production that wait. */
interface Row {
  readonly waiting: number;
  readonly their_receiver: string;
  /** From the event to its arrival at the healthy webhook. */
  readonly delivery_p50_ms: number;
  readonly delivery_p99_ms: number;
  readonly sandbox_per_second: number;
  readonly sandbox_p50_ms: number;
  readonly sandbox_p99_ms: number;
  /** Attempts at the others. */
  readonly sent_per_second: number;
}

const SECONDS = effort(20);
const WAITING = quick ? 5_000 : 50_000;
/** Events for the healthy webhook. */
const EVENTS_PER_SECOND = 10;
/** Of the sandbox's API, each with one request after the other. */
const CALLERS = 4;

/** How the receiver of those that wait behaves; the first row is without any. */
const STORMS: readonly (readonly [name: string, answer: ((response: ServerResponse) => void) | undefined])[] =
  [
    ["none", undefined],
    ["never answers", () => undefined],
    ["answers after 1 s", (response) => void setTimeout(() => response.writeHead(204).end(), 1_000)],
    ["answers at once", (response) => response.writeHead(204).end()],
  ];

/** Receivers that are dead, slow and quick, each with tens of thousands of deliveries that wait, in one control plane. */
export async function benchmarkWebhooks(): Promise<Row[]> {
  const limit = 10_000_000;
  const plane = await startControlPlaneProcess({
    config: { api: { rate_limits: { authentication: limit, management: limit, analytics: limit } } },
  });
  const healthy = await startTaker((response) => response.writeHead(204).end());
  try {
    const production = apiClient(plane.url.production, await plane.createKey("production", "full_access"));
    const sandbox = apiClient(plane.url.sandbox, await plane.createKey("sandbox", "full_access"));
    await production("POST", "/webhooks", { url: healthy.url, events: ["customer.created"] });
    const measured = () => measure(production, sandbox, healthy);
    // warms up
    await measured();
    return await withPlaneDatabase(plane, async (db) => {
      const rows: Row[] = [];
      for (const [name, answer] of STORMS) {
        if (answer === undefined) {
          rows.push({ waiting: 0, their_receiver: name, ...(await measured()), sent_per_second: 0 });
          continue;
        }
        const other = await startTaker(answer);
        const made = await production("POST", "/webhooks", {
          url: other.url,
          events: ["policy.violated"],
        });
        const { id } = (made.body as { data: { id: string } }).data;
        await fill(db, id);
        await production("POST", `/webhooks/${id}/test`);
        await eventually("the first of them", () => other.delays.length > 0);
        const before = other.delays.length;
        const figures = await measured();
        const sent = (other.delays.length - before) / SECONDS;
        rows.push({ waiting: WAITING, their_receiver: name, ...figures, sent_per_second: rounded(sent) });
        await production("DELETE", `/webhooks/${id}`);
        await other.close();
        await db("webhook_deliveries").where({ webhook_id: id }).delete();
        await db.raw("vacuum analyze webhook_deliveries");
      }
      return rows;
    });
  } finally {
    await plane.stop();
    await healthy.close();
  }
}

interface Taker {
  readonly url: string;
  /** Milliseconds since each event, as they come. */
  readonly delays: number[];
  close(): Promise<void>;
}

async function startTaker(answer: (response: ServerResponse) => void): Promise<Taker> {
  const delays: number[] = [];
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { timestamp } = JSON.parse(Buffer.concat(chunks).toString()) as { timestamp: string };
      delays.push(Date.now() - Date.parse(timestamp));
      answer(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    delays,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function fill(db: Database, webhookId: string): Promise<void> {
  const payload = JSON.stringify({
    ...{ id: "evt_bench", type: "policy.violated", timestamp: new Date().toISOString() },
    data: { user: { id: "usr_bench", customer_id: "cus_bench" }, reason: "CONDITION_FALSE" },
  });
  await db.raw(
    `insert into webhook_deliveries
       (id, webhook_id, event_id, event_type, payload, retried, status, next_attempt_at, created_at, priority)
     select ? || n, ?, 'evt_bench' || n, 'policy.violated', ?, true, 'pending', now(), now(), 2
     from generate_series(1, ?::int) n`,
    [`dlv_${webhookId}_`, webhookId, payload, WAITING],
  );
  await db.raw("analyze webhook_deliveries");
}

type Client = ReturnType<typeof apiClient>;

async function measure(production: Client, sandbox: Client, healthy: Taker) {
  const from = healthy.delays.length;
  const end = performance.now() + SECONDS * 1_000;
  const times: number[] = [];
  const call = async () => {
    while (performance.now() < end) {
      const started = performance.now();
      const { status } = await sandbox("GET", "/customers");
      if (status !== 200) throw new Error(`the sandbox answered ${status}`);
      times.push(performance.now() - started);
    }
  };
  let made = 0;
  const emit = async () => {
    while (performance.now() < end) {
      const next = delay(1_000 / EVENTS_PER_SECOND);
      made += 1;
      const { status } = await production("POST", "/customers", { name: `c ${made}` });
      if (status !== 201) throw new Error(`production answered ${status}`);
      await next;
    }
  };
  await Promise.all([emit(), ...Array.from({ length: CALLERS }, call)]);
  await eventually("the last delivery", () => healthy.delays.length >= from + made);
  const delays = healthy.delays.slice(from);
  return {
    delivery_p50_ms: percentile(delays, 0.5),
    delivery_p99_ms: percentile(delays, 0.99),
    sandbox_per_second: Math.round(times.length / SECONDS),
    sandbox_p50_ms: rounded(percentile(times, 0.5)),
    sandbox_p99_ms: rounded(percentile(times, 0.99)),
  };
}

function rounded(value: number): number {
  return Number(value.toFixed(2));
}
