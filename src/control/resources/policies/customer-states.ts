import type { Knex } from "knex";
import {
  strictest,
  type AuthenticationConditions,
  type AuthenticationRules,
  type CustomerState,
} from "../../../customer-state/index.ts";
import type { IdpRow } from "../../tenancy/idp.ts";
import { HAS_ENDING } from "../../platform/open-sessions.ts";
import { mfaAcrValues } from "../../tenancy/mfa-acr-values.ts";

/**
 * How long gateways of earlier releases are told of a deletion; newer ones know the ids of all deleted customers for
 * good.
 */
const DELETED_MATTERS_MS = 2 * 24 * 3_600_000;

interface CustomerStateRow {
  readonly id: string;
  readonly status: CustomerState["status"];
  readonly authentication: readonly AuthenticationConditions[];
  readonly policy_sets: readonly string[];
  /** Of the customer's identity provider, if there is one. */
  readonly idp_type: IdpRow["type"] | null;
  readonly mfa_acr_values: IdpRow["mfa_acr_values"];
}

/** Customers per statement: the result is read in one go, which blocks everything else in the process. */
const SLICE = 1_000;

/**
 * The states of these customers. Deleted ones are `deleted`; unknown ones are missing. One that has become active again is
 * suspended until the last of its former sessions has ended, because gateways do not know them all before. Many are read in several
 * statements, which see the same moment in a `repeatable read` transaction.
 */
export async function customerStatesOf(
  db: Knex,
  customerIds: readonly string[],
): Promise<Map<string, CustomerState>> {
  const found = new Map<string, CustomerState>();
  for (let from = 0; from < customerIds.length; from += SLICE)
    for (const state of await readStates(db, customerIds.slice(from, from + SLICE)))
      found.set(state.id, state);
  return found;
}

/**
 * The states of customers that are not active or have policies, by id.
 *
 * @param now - deleted customers are included only for two days after their deletion
 * @param after - the last id that was read
 * @param most - of customers; of some of them nothing may be found
 */
export async function unusualCustomerStatesAfter(
  db: Knex,
  now: Date,
  after: string,
  most: number,
): Promise<{ readonly ids: readonly string[]; readonly states: readonly CustomerState[] }> {
  const since = new Date(now.getTime() - DELETED_MATTERS_MS);
  const { rows } = await db.raw<{ rows: { id: string }[] }>(
    `(select id from customers where status <> 'active' and deleted_at is null and id > :after order by id limit :most)
     union (select id from customers where deleted_at > :since and id > :after order by id limit :most)
     union (select distinct customer_id from session_endings where customer_id > :after
            order by customer_id limit :most)
     union (select distinct customer_id from policy_assignments where customer_id > :after
            order by customer_id limit :most)
     order by id limit :most`,
    { since, after, most },
  );
  const ids = rows.map(({ id }) => id);
  return { ids, states: [...(await customerStatesOf(db, ids)).values()] };
}

async function readStates(db: Knex, ids: readonly string[]): Promise<CustomerState[]> {
  const { rows } = await db.raw<{ rows: CustomerStateRow[] }>(
    `with wanted (id) as (select unnest(:ids::text[])), assigned as (
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
            case when c.deleted_at is not null then 'deleted'
                 when c.status = 'active' and ${HAS_ENDING} then 'suspended'
                 else c.status end as status,
            coalesce(r.authentication, '[]') as authentication,
            coalesce(r.policy_sets, '{}') as policy_sets,
            i.type as idp_type, i.mfa_acr_values
       from customers c
            left join rules r on r.customer_id = c.id
            left join customer_idps i on i.customer_id = c.id
      where c.id in (select id from wanted)
      order by c.id`,
    { ids: [...ids] },
  );
  return rows.map(({ id, status, authentication, policy_sets, ...idp }) => ({
    id,
    status,
    authentication: withEvidence(strictest(authentication), idp),
    policy_sets,
  }));
}

/** The values with which the customer's provider confirms multi-factor authentication, if that is required. */
export function withEvidence(
  rules: AuthenticationRules,
  { idp_type: type, mfa_acr_values }: Pick<CustomerStateRow, "idp_type" | "mfa_acr_values">,
): AuthenticationRules {
  if (!rules.mfa_required || type === null) return rules;
  const values = mfaAcrValues({ type, mfa_acr_values });
  return values.length === 0 ? rules : { ...rules, mfa_acr_values: values };
}
