import type { Knex } from "knex";

/**
 * Counts, kept as decisions and events arrive. `granularity` and `start` say of which minute, hour or day (UTC). Rows that
 * many transactions count into have several slots, so that they do not wait for each other; a number is the sum of them.
 */
export async function up(trx: Knex): Promise<void> {
  await trx.schema.createTable("rollup_decisions", (table) => {
    period(table);
    table.smallint("slot").notNullable();
    key(table, "decision", "reason");
    counters(table, "requests");
    table.primary(["granularity", "start", "slot", "decision", "reason"]);
  });
  await trx.schema.createTable("rollup_resources", (table) => {
    period(table);
    table.smallint("slot").notNullable();
    key(table, "resource").comment("what the rule guards, not the path asked for; empty without a rule");
    counters(table, "requests", "denied");
    table.primary(["granularity", "start", "slot", "resource"]);
  });
  await trx.schema.createTable("rollup_latency", (table) => {
    period(table);
    table.smallint("slot").notNullable();
    table.smallint("bucket").notNullable();
    counters(table, "requests");
    table.primary(["granularity", "start", "slot", "bucket"]);
  });
  await trx.schema.createTable("rollup_customers", (table) => {
    period(table);
    key(table, "customer_id").comment("empty for decisions without a customer");
    counters(table, "requests", "denied");
    table.primary(["granularity", "start", "customer_id"]);
  });
  await trx.schema.createTable("rollup_customer_traffic", (table) => {
    table.comment("by the hour and the day");
    period(table);
    key(table, "customer_id", "decision", "reason", "resource");
    counters(table, "requests");
    table.primary(["customer_id", "granularity", "start", "decision", "reason", "resource"]);
    table.index(["granularity", "start"]);
  });
  await trx.schema.createTable("rollup_events", (table) => {
    period(table);
    table.smallint("slot").notNullable();
    key(table, "type");
    counters(table, "events");
    table.primary(["granularity", "start", "slot", "type"]);
  });
  await trx.schema.createTable("rollup_customer_events", (table) => {
    period(table);
    table.smallint("slot").notNullable();
    key(table, "customer_id", "type");
    counters(table, "events");
    table.primary(["customer_id", "granularity", "start", "slot", "type"]);
    table.index(["granularity", "start"]);
  });
  await trx.schema.createTable("rollup_users", (table) => {
    table.comment("one row a user that was ever seen");
    key(table, "customer_id", "user_id");
    counters(table, "requests", "denied", "sign_ins");
    table.timestamp("first_seen_at").notNullable();
    table.timestamp("last_seen_at").notNullable();
    table.primary(["customer_id", "user_id"]);
  });
  await trx.schema.createTable("rollup_user_days", (table) => {
    table.date("day").notNullable();
    key(table, "customer_id", "user_id");
    counters(table, "requests", "denied", "sign_ins");
    table.primary(["day", "customer_id", "user_id"]);
  });
  await trx.schema.createTable("rollup_user_activity", (table) => {
    key(table, "customer_id", "user_id");
    table.specificType("days", "datemultirange").notNullable().comment("on which the user did something");
    table.primary(["customer_id", "user_id"]);
  });
  await trx.schema.createTable("rollup_caches", (table) => {
    period(table);
    key(table, "cache");
    counters(table, "hits", "misses", "evictions");
    table.primary(["granularity", "start", "cache"]);
  });
  await trx.schema.createTable("rollup_audit", (table) => {
    period(table);
    counters(table, "decided", "recorded", "dropped");
    table.primary(["granularity", "start"]);
  });
  await trx.schema.createTable("gateway_statistics", (table) => {
    table.comment("what was taken in already, so that it is taken in once");
    key(table, "instance");
    table.bigInteger("sequence").notNullable();
    table.timestamp("received_at").notNullable().index();
    table.primary(["instance", "sequence"]);
  });
  // rows are changed in place many times: room for that, and no index on what changes
  for (const name of [
    "decisions",
    "resources",
    "latency",
    "customers",
    "customer_traffic",
    "events",
    "customer_events",
    "users",
    "user_days",
  ])
    await trx.raw("alter table ?? set (fillfactor = 70)", [`rollup_${name}`]);
}

function period(table: Knex.CreateTableBuilder): void {
  table.specificType("granularity", 'text collate "C"').notNullable().checkIn(["minute", "hour", "day"]);
  table.timestamp("start").notNullable();
}

/** @returns the last column. */
function key(
  table: Knex.CreateTableBuilder,
  first: string,
  ...others: readonly string[]
): Knex.ColumnBuilder {
  const add = (name: string) => table.specificType(name, 'text collate "C"').notNullable();
  return others.reduce((_, name) => add(name), add(first));
}

function counters(table: Knex.CreateTableBuilder, ...names: readonly string[]): void {
  for (const name of names) table.bigInteger(name).notNullable().defaultTo(0);
}
