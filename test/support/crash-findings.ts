import assert from "node:assert/strict";
import { assertRollupsExact } from "../control/support/gateway-records.ts";
import type { Database } from "../../src/storage/index.ts";
import type { CrashClients, Kind } from "./crash-clients.ts";
import type { Received } from "./webhook-receiver.ts";

/** Where each kind is, and the column that holds its name. */
const TABLES: Readonly<Record<Kind, { readonly table: string; readonly name: string }>> = {
  customer: { table: "customers", name: "name" },
  policy: { table: "policies", name: "name" },
  user: { table: "users", name: "subject" },
  webhook: { table: "webhooks", name: "description" },
};

interface Found {
  readonly id: string;
  readonly name: string | null;
  readonly revision: number;
}

/** What was acknowledged is there, once; what was asked for with one key is there at most once; and nothing else is. */
export async function assertResources(db: Database, { wanted }: CrashClients): Promise<void> {
  for (const [kind, { table, name: column }] of Object.entries(TABLES)) {
    const rows = await db(table).select<Found[]>("id", { name: column }, "revision");
    const of = wanted.filter((one) => one.kind === kind);
    const known = new Set(of.map(({ name }) => name));
    const made = rows.filter(({ name }) => name !== null && known.has(name));
    assert.equal(new Set(made.map(({ name }) => name)).size, made.length, `a ${kind} is there twice`);
    const byName = new Map(made.map((row) => [row.name, row]));
    for (const { name, manner, id, updated } of of) {
      const row = byName.get(name);
      if (manner === "repeated" || manner === "doubled")
        assert.ok(id !== undefined, `${name} was never acknowledged`);
      if (id === undefined) continue;
      assert.equal(row?.id, id, `${name} was acknowledged`);
      assert.equal(row.revision, updated ? 2 : 1, name);
    }
  }
}

/** Each change has one record of its own in the audit trail, and there is none of what was not done. */
export async function assertChanges(db: Database): Promise<void> {
  const expected: Record<string, number> = {};
  for (const [kind, { table }] of Object.entries(TABLES)) {
    for (const { id, revision } of await db(table).select<Found[]>("id", "revision")) {
      expected[`${kind}/${id} ${kind}.created`] = 1;
      if (revision > 1) expected[`${kind}/${id} ${kind}.updated`] = revision - 1;
    }
  }
  const rows = await db("audit_records")
    .where({ kind: "change" })
    .select<{ resource: string; action: string }[]>("resource", "action");
  const ofKinds = rows.filter(({ resource }) => Object.hasOwn(TABLES, resource.split("/")[0] ?? ""));
  assert.deepEqual(tally(ofKinds.map(({ resource, action }) => `${resource} ${action}`)), sorted(expected));
}

interface EventRow {
  readonly id: string;
  readonly type: string;
  readonly data: {
    readonly customer?: { readonly id: string };
    readonly policy?: { readonly id: string };
  };
}

/** Each change that is an event is one, once, and so is each violation; the counts of events are those of the events. */
export async function assertEvents(db: Database, { violations }: CrashClients): Promise<void> {
  const events = await db("events").select<EventRow[]>("id", "type", "data");
  const expected: Record<string, number> = {};
  for (const row of await db("customers").select<(Found & { status: string })[]>(
    "id",
    "revision",
    "status",
  )) {
    expected[`customer.created ${row.id}`] = 1;
    if (row.revision > 1) expected[`customer.updated ${row.id}`] = row.revision - 1;
    if (row.status === "suspended") expected[`customer.suspended ${row.id}`] = 1;
  }
  for (const { id, revision } of await db("policies").select<Found[]>("id", "revision"))
    if (revision > 1) expected[`policy.updated ${id}`] = revision - 1;
  const about = events.filter(({ type }) => /^(customer|policy)\.(?!violated)/.test(type));
  assert.deepEqual(
    tally(about.map(({ type, data }) => `${type} ${(data.customer ?? data.policy)?.id ?? ""}`)),
    sorted(expected),
  );
  assert.equal(events.filter(({ type }) => type === VIOLATION).length, violations);

  const rollup = await db("rollup_events")
    .where({ granularity: "day" })
    .groupBy("type")
    .select<{ type: string; events: string | number }[]>("type", db.raw("sum(events) as events"));
  const counted = Object.fromEntries(rollup.map((row) => [row.type, Number(row.events)]));
  assert.deepEqual(sorted(counted), tally(events.map(({ type }) => type)));
}

/** Every acknowledged record is there once, none besides, and the counts are those of the records. */
export async function assertRecords(db: Database, { records }: CrashClients): Promise<void> {
  const rows = await db("audit_records").where({ kind: "decision" }).select<{ id: string }[]>("id");
  assert.deepEqual(rows.map(({ id }) => id).sort(), [...records].sort());
  await assertRollupsExact(db);
}

/** Nothing waits to be delivered any more, nothing was given up. */
export async function areDelivered(db: Database): Promise<boolean> {
  const rows = await db("webhook_deliveries").distinct<{ status: string }[]>("status");
  return rows.every(({ status }) => status === "delivered");
}

/**
 * Every event since the webhook is there was received, each time with the same bytes, and nothing that is no event; and each
 * violation was sent or is counted.
 */
export async function assertReceived(
  db: Database,
  webhookId: string,
  received: readonly Received[],
): Promise<void> {
  const bodies = new Map<string, string>();
  for (const { json, body } of received) {
    const id = json.id as string;
    assert.equal(body, bodies.get(id) ?? body, `${id} was sent with two bodies`);
    bodies.set(id, body);
  }
  const events = await db("events")
    .where("timestamp", ">=", db("webhooks").where({ id: webhookId }).select("created_at"))
    .select<EventRow[]>("id", "type");
  const others = events.filter(({ type }) => type !== VIOLATION).map(({ id }) => id);
  const ofOthers = [...bodies].filter(([, body]) => (JSON.parse(body) as EventRow).type !== VIOLATION);
  assert.deepEqual(ofOthers.map(([id]) => id).sort(), others.sort());
  // in one statement, for windows close meanwhile
  const { rows } = await db.raw<{ rows: { told: number }[] }>(
    `select ((select coalesce(sum(count), 0) from webhook_windows where webhook_id = :webhookId)
       + (select coalesce(sum(coalesce((payload::json -> 'data' ->> 'count')::int, 1)), 0)
          from webhook_deliveries where webhook_id = :webhookId and event_type = :type))::int as told`,
    { webhookId, type: VIOLATION },
  );
  assert.equal(rows[0]?.told, events.length - others.length);
}

const VIOLATION = "policy.violated";

function tally(names: readonly string[]): [string, number][] {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return sorted(counts);
}

function sorted(counts: Readonly<Record<string, number>>): [string, number][] {
  return Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1));
}
