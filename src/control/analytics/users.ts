import type { Knex } from "knex";
import { dayOf } from "./rollups/count-decisions.ts";
import type { UsersQuery } from "./schemas.ts";
import { PERIOD_MS } from "./rollups/tally.ts";
import { ofCustomer } from "./traffic.ts";

const RECENT_DAYS = 30;

interface UserRow {
  readonly customer_id: string;
  readonly user_id: string;
  readonly requests: number;
  readonly denied: number;
  readonly sign_ins: number;
  readonly first_seen_at: Date;
  readonly last_seen_at: Date;
}

/** All users ever seen, with their activity in total and in the last days. */
export async function readUsers(
  db: Knex,
  { page, limit, sort, order, seen_since: since, customer_id: customer }: UsersQuery,
  now: number,
): Promise<{ readonly items: readonly object[]; readonly total: number }> {
  const seen = ofCustomer(db("rollup_users"), customer);
  if (since !== undefined) seen.where("last_seen_at", ">=", since);
  const [rows, counted] = await Promise.all([
    seen
      .clone()
      .orderBy([
        { column: sort, order },
        { column: "user_id", order },
        { column: "customer_id", order },
      ])
      .limit(limit)
      .offset((page - 1) * limit) as unknown as Promise<UserRow[]>,
    seen.clone().count({ total: "*" }) as unknown as Promise<{ total: number }[]>,
  ]);
  const [recent, people] = await Promise.all([recentOf(db, rows, now), directoryOf(db, rows)]);
  const items = rows.map((row) => {
    const { email = null, name = null } = people.get(keyOf(row)) ?? {};
    const none = { requests: 0, denied: 0, sign_ins: 0 };
    return {
      ...row,
      customer_id: row.customer_id === "" ? null : row.customer_id,
      email,
      name,
      recent: recent.get(keyOf(row)) ?? none,
    };
  });
  return { items, total: counted[0]?.total ?? 0 };
}

/** The recent activity of the users of a page, including today. */
async function recentOf(db: Knex, rows: readonly UserRow[], now: number): Promise<Map<string, object>> {
  if (rows.length === 0) return new Map();
  const days = Array.from({ length: RECENT_DAYS }, (_, ago) => dayOf(now - ago * PERIOD_MS.day));
  const { rows: found } = await db.raw<{
    rows: { customer_id: string; user_id: string; requests: string; denied: string; sign_ins: string }[];
  }>(
    `select customer_id, user_id, sum(requests) as requests, sum(denied) as denied, sum(sign_ins) as sign_ins
     from unnest(?::text[], ?::text[]) as listed (customer_id, user_id)
       cross join unnest(?::date[]) as recent (day)
       join rollup_user_days using (day, customer_id, user_id)
     group by customer_id, user_id`,
    [
      rows.map((row) => row.customer_id),
      rows.map((row) => row.user_id),
      days,
    ] as unknown as Knex.RawBinding[],
  );
  return new Map(
    found.map((row) => [
      keyOf(row),
      { requests: Number(row.requests), denied: Number(row.denied), sign_ins: Number(row.sign_ins) },
    ]),
  );
}

/**
 * The users among them that are in the directory. Others are known only to gateways; for deleted ones only ids are
 * returned.
 */
async function directoryOf(
  db: Knex,
  rows: readonly UserRow[],
): Promise<Map<string, { readonly email: string | null; readonly name: string | null }>> {
  const found = await db("users as u")
    .join("customers as c", "c.id", "u.customer_id")
    .whereRaw("u.id = any(?)", [rows.map((row) => row.user_id)])
    .whereRaw("coalesce(u.deleted_at, c.deleted_at) is null")
    .select<{ id: string; customer_id: string; email: string | null; name: string | null }[]>(
      "u.id",
      "u.customer_id",
      "u.email",
      "u.name",
    );
  return new Map(
    found.map(({ id, customer_id, email, name }) => [keyOf({ customer_id, user_id: id }), { email, name }]),
  );
}

function keyOf({ customer_id: customer, user_id: user }: Pick<UserRow, "customer_id" | "user_id">): string {
  return `${customer}\0${user}`;
}
