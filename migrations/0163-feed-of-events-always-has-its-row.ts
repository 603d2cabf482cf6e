import type { Knex } from "knex";

/**
 * An earlier release that runs beside this one empties every table that it does not know when the sandbox is reset. The row of
 * `event_feed` comes back at once, with the generation that new events get.
 */
export async function up(trx: Knex.Transaction): Promise<void> {
  await trx.raw(`
    create or replace function restore_event_feed() returns trigger language plpgsql set search_path from current as $$
    begin
      insert into event_feed (generation, server)
        select pg_get_expr(adbin, adrelid)::integer,
          (select system_identifier from pg_control_system()) || '.' ||
            (select oid from pg_database where datname = current_database())
        from pg_attrdef join pg_attribute on attrelid = adrelid and attnum = adnum
        where adrelid = 'events'::regclass and attname = 'feed_generation'
        on conflict do nothing;
      return null;
    end $$;
    create or replace trigger restore_event_feed after truncate on event_feed
      for each statement execute function restore_event_feed();
    insert into event_feed (generation, server)
      select 1 + coalesce((select max(feed_generation) from events), 0),
        (select system_identifier from pg_control_system()) || '.' ||
          (select oid from pg_database where datname = current_database())
      on conflict do nothing;
  `);
}
