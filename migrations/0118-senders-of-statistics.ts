import type { Knex } from "knex";

/**
 * Who sent a gateway's statistics is part of what makes a report the same. The table from before, whose key has no
 * sender, is still written, for processes of the version before; the next version can drop it.
 */
export async function up(trx: Knex): Promise<void> {
  await trx.raw(`
    create table gateway_reports (
      sender text collate "C" not null,
      instance text collate "C" not null,
      sequence bigint not null,
      received_at timestamptz not null,
      primary key (sender, instance, sequence)
    );
    comment on table gateway_reports is 'statistics that were counted already, so that each is counted once';
    comment on column gateway_reports.sender is 'the family of the API key';
    create index gateway_reports_age on gateway_reports (received_at);

    alter table gateway_statistics add column sender text collate "C";
    comment on column gateway_statistics.sender is 'null: counted by the version before';
  `);
}
