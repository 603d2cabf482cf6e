import type { Knex } from "knex";

/** How often gateways of one key were announced. An earlier release that runs beside this one announces without counting. */
export async function up(trx: Knex.Transaction): Promise<void> {
  await trx.raw(`
    create table gateway_announcements (
      sender text collate "C" not null,
      type text collate "C" not null,
      opened_at timestamptz not null,
      announced int not null,
      primary key (sender, type)
    )`);
  await trx.raw("comment on column gateway_announcements.announced is 'events since opened_at'");
}
