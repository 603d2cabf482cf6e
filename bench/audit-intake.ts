import { rm } from "node:fs/promises";
import pg from "pg";
import { recordsRoutes } from "../src/control/analytics/records/routes.ts";
import { maintainPartitions } from "../src/control/analytics/records/maintain-partitions.ts";
import { closeDatabase, migrate, openDatabase } from "../src/storage/index.ts";
import { startControl, type RunningControl } from "../test/support/control.ts";
import { privatePostgres } from "../test/support/database.ts";
import { GATEWAY_KEY } from "../test/control/support/gateway-records.ts";
import { copyLine, copyRows } from "./copy.ts";
import { COLUMNS, decisionsOf, recordOf, valuesOf, type BenchDecision } from "./decisions.ts";
import { effort } from "./effort.ts";
import { median } from "./statistics.ts";

interface Row {
  readonly way: string;
  readonly batch: number;
  readonly at_once: number;
  readonly records_per_second: number;
  readonly ratio_to_copy: number;
  readonly ratio_to_copy_with_indexes: number;
}

const ROUNDS = 3;
const RECORDS = 40_000;
/** A gateway's batch contains a few hundred records; after an outage its spool sends full batches. */
const BATCHES = [400, 5000] as const;

/**
 * Records per second from HTTP request to commit, including rollups, compared with COPY of the same rows into a bare table and
 * into one with the indexes of the audit trail.
 */
export async function benchmarkAuditIntake(): Promise<Row[]> {
  const postgres = await privatePostgres();
  const db = openDatabase(postgres.url, { poolSize: 10, statementTimeoutMs: 0 });
  const client = new pg.Client({ connectionString: postgres.url });
  try {
    await migrate(db);
    await client.connect();
    await client.query("create table bare (like audit_records)");
    await client.query("create table indexed (like audit_records including all)");
    const database = { url: postgres.url, db, close: () => Promise.resolve() };
    const control = await startControl({ database, routes: recordsRoutes });
    try {
      await maintainPartitions(control.context);
      return await measure(client, control);
    } finally {
      await control.close();
    }
  } finally {
    await client.end();
    await closeDatabase(db);
    await postgres.close();
    await rm(postgres.dataDirectory, { recursive: true });
  }
}

async function measure(client: pg.Client, control: RunningControl): Promise<Row[]> {
  const next = decisionsOf({ customers: 1000, users: 50_000, resources: 50 });
  const ways: { way: string; batch: number; atOnce: number; rates: number[]; run: Way }[] = [];
  for (const batch of BATCHES) {
    for (const table of ["bare", "indexed"])
      ways.push({ way: `COPY, ${table} table`, batch, atOnce: 1, rates: [], run: copying(client, table) });
    for (const atOnce of [1, 4])
      ways.push({ way: "POST /gateway/records", batch, atOnce, rates: [], run: posting(control, atOnce) });
  }
  for (let round = 0; round <= ROUNDS; round++) {
    for (const { batch, rates, run } of ways) {
      const count = Math.ceil(effort(RECORDS) / batch);
      const batches = Array.from({ length: count }, () =>
        // a hundredth of a second each, up to now
        Array.from({ length: batch }, (_, index) => next(Date.now() - (batch - index) * 10)),
      );
      // the first round warms up
      const rate = await run(batches);
      if (round > 0) rates.push(rate);
    }
  }
  const rateOf = (way: string, batch: number) =>
    median(ways.find((one) => one.way === way && one.batch === batch)?.rates ?? []);
  return ways.map(({ way, batch, atOnce, rates }) => {
    const rate = median(rates);
    return {
      way,
      batch,
      at_once: atOnce,
      records_per_second: Math.round(rate),
      ratio_to_copy: rate / rateOf("COPY, bare table", batch),
      ratio_to_copy_with_indexes: rate / rateOf("COPY, indexed table", batch),
    };
  });
}

/** Stores batches. @returns records per second */
type Way = (batches: readonly (readonly BenchDecision[])[]) => Promise<number>;

function copying(client: pg.Client, table: string): Way {
  return async (batches) => {
    const texts = batches.map((batch) => batch.map((decision) => copyLine(valuesOf(decision))).join(""));
    const started = performance.now();
    for (const text of texts) await copyRows(client, table, COLUMNS, text);
    return rate(batches, started);
  };
}

function posting(control: RunningControl, atOnce: number): Way {
  return async (batches) => {
    const bodies = batches.map((batch) => JSON.stringify({ records: batch.map(recordOf) }));
    const headers = {
      "content-type": "application/json",
      authorization: `Bearer ${Buffer.from(JSON.stringify(GATEWAY_KEY)).toString("base64url")}`,
    };
    let sent = 0;
    const sender = async () => {
      for (let body = bodies[sent++]; body !== undefined; body = bodies[sent++]) {
        const answer = await fetch(`${control.url}/v1/gateway/records`, { method: "POST", headers, body });
        const text = await answer.text();
        if (answer.status !== 200 || !text.includes('"duplicates":0,"rejected":[]')) throw new Error(text);
      }
    };
    const started = performance.now();
    await Promise.all(Array.from({ length: atOnce }, sender));
    return rate(batches, started);
  };
}

function rate(batches: readonly (readonly unknown[])[], started: number): number {
  const records = batches.reduce((sum, { length }) => sum + length, 0);
  return (records * 1000) / (performance.now() - started);
}
