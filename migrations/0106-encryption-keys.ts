import type { Knex } from "knex";

/** The master keys that secrets are sealed with: what a start compares its configuration with. */
export async function up(trx: Knex): Promise<void> {
  await trx.raw(`
    create table encryption_keys (
      key_id text primary key,
      check_value text not null,
      created_at timestamptz not null,
      retired_at timestamptz
    );
    comment on column encryption_keys.check_value is 'opens with this key and no other';
    comment on column encryption_keys.retired_at is 'nothing is sealed with it any more';
  `);
}
