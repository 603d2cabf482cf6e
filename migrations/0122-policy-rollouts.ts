import type { Knex } from "knex";

/** Rollouts of policy sets: a candidate beside the active version, and what gateways report about it. */
export async function up(trx: Knex.Transaction): Promise<void> {
  await trx.raw(`
    create table policy_rollouts (
      id text collate "C" primary key,
      policy_set text collate "C" not null references policy_sets (name),
      state text collate "C" not null check (state in ('running', 'promoted', 'aborted')),
      revision int not null,
      stable_version text collate "C" not null,
      stable_digest text collate "C" not null,
      candidate_version text collate "C" not null,
      candidate_digest text collate "C" not null,
      mode text collate "C" not null check (mode in ('shadow', 'enforce')),
      percentage int not null check (percentage between 0 and 100),
      sticky_by text collate "C" not null,
      steps jsonb not null,
      step int not null,
      step_pause_ms bigint not null,
      guard jsonb,
      started_at timestamptz not null,
      started_by jsonb not null,
      changed_at timestamptz not null,
      ended_at timestamptz,
      ended_by jsonb,
      cause text collate "C",
      detail text collate "C",
      foreign key (policy_set, candidate_version) references policy_set_versions (name, version),
      check ((state = 'running') = (ended_at is null))
    )`);
  await trx.raw(
    "create unique index policy_rollouts_running on policy_rollouts (policy_set) where state = 'running'",
  );
  await trx.raw("create index policy_rollouts_set on policy_rollouts (policy_set, started_at, id)");
  await trx.raw("comment on column policy_rollouts.revision is 'counts the changes of its terms'");
  await trx.raw("comment on column policy_rollouts.changed_at is 'when its present terms took effect'");
  await trx.raw("comment on column policy_rollouts.cause is 'why it was aborted'");
  await trx.raw(`
    create table policy_rollout_reports (
      rollout text collate "C" not null references policy_rollouts (id) on delete cascade,
      sender text collate "C" not null,
      gateway text collate "C" not null,
      revision int not null,
      samples jsonb not null,
      totals jsonb not null,
      shadow jsonb,
      taken_back jsonb,
      seen_at timestamptz not null,
      primary key (rollout, sender, gateway)
    )`);
  await trx.raw("comment on column policy_rollout_reports.sender is 'the family of the API key'");
  await trx.raw(
    "comment on column policy_rollout_reports.samples is 'of both arms, within the guard''s window'",
  );
}
