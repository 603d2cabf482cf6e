import type { Knex } from "knex";

/** What each folder was when it was last published, so that an instance tells its own change from another's. */
export async function up(trx: Knex): Promise<void> {
  await trx.raw(`
    create table policy_folders (
      policy_set text not null,
      source text not null,
      digest text not null,
      primary key (policy_set, source)
    );
    comment on column policy_folders.source is 'a hash of the machine and the path';
  `);
}
