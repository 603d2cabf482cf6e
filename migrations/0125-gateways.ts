import type { Knex } from "knex";

/** Gateways that report to this control plane. What one says about itself counts until its next report. */
export async function up(trx: Knex.Transaction): Promise<void> {
  await trx.raw(`
    create table gateways (
      sender text collate "C" not null,
      id text collate "C" not null,
      name text collate "C" not null,
      kind text collate "C" not null check (kind in ('gateway', 'authz')),
      address text collate "C" not null,
      version text collate "C" not null,
      policy_source text collate "C" not null check (policy_source in ('directory', 'control_plane')),
      policy_set text collate "C" not null,
      policy_set_version text collate "C",
      digest text collate "C",
      digest_since timestamptz not null,
      rollout jsonb,
      workers_expected int not null,
      workers_ready int not null,
      interval_ms int not null,
      clock_offset_ms bigint not null,
      started_at timestamptz not null,
      registered_at timestamptz not null,
      seen_at timestamptz not null,
      status text collate "C" not null,
      primary key (sender, id)
    )`);
  await trx.raw("comment on column gateways.sender is 'the family of the API key'");
  await trx.raw("comment on column gateways.status is 'the one that was last announced'");
}
