import type { Knex } from "knex";

/** One entry of a list of the most frequent. */
export interface Group {
  /** `null` for entries without a name. */
  readonly name: string | null;
  readonly requests: number;
  readonly denied: number;
}

/** Counts of events, for all customers or for one. */
export function eventCounts(db: Knex, customer: string | undefined): Knex.QueryBuilder {
  return customer === undefined
    ? db("rollup_events")
    : db("rollup_customer_events").where({ customer_id: customer });
}

export function ofCustomer(query: Knex.QueryBuilder, customer: string | undefined): Knex.QueryBuilder {
  return customer === undefined ? query : query.where({ customer_id: customer });
}

/** The most frequent entries of a query that selects `name`, `requests` and `denied`. */
export async function groups(query: Knex.QueryBuilder, top: number): Promise<readonly Group[]> {
  const rows = (await query
    .groupBy("name")
    .orderBy([{ column: "requests", order: "desc" }, "name"])
    .limit(top)) as { name: string; requests: string; denied: string | null }[];
  return rows.map(({ name, requests, denied }) => ({
    name: name === "" ? null : name,
    requests: Number(requests),
    denied: Number(denied ?? 0),
  }));
}

/** The most frequent entries, and the sum of all others. */
export function withOther<G extends Omit<Group, "name">>(
  top: readonly G[],
  total: { readonly requests: number; readonly denied: number },
): { top: G[]; other: { requests: number; denied: number } } {
  const other = { ...total };
  for (const { requests, denied } of top) {
    other.requests -= requests;
    other.denied -= denied;
  }
  return { top: [...top], other };
}
