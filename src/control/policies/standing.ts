import type { Knex } from "knex";
import { strictest, type AuthenticationConditions, type CustomerStanding } from "../../standing/index.ts";

/** Tokens are long dead when a customer was deleted so long ago: nobody needs to be told of it any more. */
const DELETED_MATTERS_MS = 2 * 24 * 3_600_000;

interface StandingRow {
  readonly id: string;
  readonly status: CustomerStanding["status"];
  readonly authentication: readonly AuthenticationConditions[];
  readonly policy_sets: readonly string[];
}

/** Where each of these customers stands. Deleted ones are `deleted`; those that never were are missing. */
export async function standingOf(
  db: Knex,
  customerIds: readonly string[],
): Promise<Map<string, CustomerStanding>> {
  const found = await readStandings(db, db.raw("select unnest(?::text[])", [[...customerIds]]));
  return new Map(found.map((standing) => [standing.id, standing]));
}

/**
 * Where all customers stand whose standing is not that of an active customer without policies.
 *
 * @param now - of those that are deleted, only the ones since two days before matter
 */
export async function standingsThatMatter(db: Knex, now: Date = new Date()): Promise<CustomerStanding[]> {
  const since = new Date(now.getTime() - DELETED_MATTERS_MS);
  return readStandings(
    db,
    db.raw(
      `select id from customers where status <> 'active' and deleted_at is null
       union select id from customers where deleted_at > ?
       union select customer_id from policy_assignments`,
      [since],
    ),
  );
}

async function readStandings(db: Knex, ids: Knex.Raw): Promise<CustomerStanding[]> {
  const { rows } = await db.raw<{ rows: StandingRow[] }>(
    `with wanted (id) as (:ids), assigned as (
       select a.customer_id, p.type, p.conditions, p.id as policy_id
         from policy_assignments a join policies p on p.id = a.policy_id
        where p.status = 'active' and a.customer_id in (select id from wanted)
     ), rules as (
       select customer_id,
              coalesce(jsonb_agg(conditions order by policy_id) filter (where type = 'authentication'), '[]') as authentication,
              coalesce(array_agg(distinct conditions ->> 'policy_set') filter (where type = 'authorization'), '{}') as policy_sets
         from assigned group by customer_id
     )
     select c.id,
            case when c.deleted_at is null then c.status else 'deleted' end as status,
            coalesce(r.authentication, '[]') as authentication,
            coalesce(r.policy_sets, '{}') as policy_sets
       from customers c left join rules r on r.customer_id = c.id
      where c.id in (select id from wanted)
      order by c.id`,
    { ids },
  );
  return rows.map(({ id, status, authentication, policy_sets }) => ({
    id,
    status,
    authentication: strictest(authentication),
    policy_sets,
  }));
}
