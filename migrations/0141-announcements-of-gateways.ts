import type { Knex } from "knex";

/** When a gateway was last announced. An earlier release that runs beside this one announces without noting it. */
export async function up(trx: Knex.Transaction): Promise<void> {
  await trx.raw("alter table gateways add column announced_at timestamptz");
}
