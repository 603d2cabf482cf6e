import type { Knex } from "knex";

/** Policy sets: versions that never change, and which of them is in force. */
export async function up(trx: Knex): Promise<void> {
  await trx.raw(`
    create table policy_sets (
      name text primary key,
      activated text[] not null default '{}',
      activated_at timestamptz,
      folder_digest text,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      revision integer not null default 1
    );
    comment on column policy_sets.activated is 'versions in the order they became active; the last one is';
    comment on column policy_sets.folder_digest is 'what was last published from a folder';
    create table policy_set_versions (
      name text not null references policy_sets (name),
      version text not null,
      digest text not null,
      files jsonb not null,
      rules integer not null,
      diagnostics jsonb not null,
      published_at timestamptz not null,
      published_by jsonb not null,
      primary key (name, version)
    );
    create index policy_set_versions_by_time on policy_set_versions (name, published_at, version);
  `);
}
