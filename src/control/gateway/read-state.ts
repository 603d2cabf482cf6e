import type { Knex } from "knex";
import type { CustomerStanding } from "../../standing/index.ts";
import type { GatewayChange } from "../gateway-change.ts";
import { standingOf, standingsThatMatter } from "../policies/standing.ts";
import { activePolicySets, type ActivePolicySet } from "../policy-sets/store.ts";
import { cursorOf, readExtent, resumeFrom, type Extent, type Place } from "./cursor.ts";

/** What a gateway judges by besides its policy set: all of it, or what has changed. */
export interface GatewayState {
  readonly cursor: string;
  readonly complete: boolean;
  readonly customers: readonly CustomerStanding[];
  readonly sessions_ended: readonly EndedSession[];
  readonly users: readonly UserStanding[];
  readonly policy_sets: readonly ActivePolicySet[];
}
interface EndedSession {
  readonly session_id: string;
  readonly until: Date;
}
interface UserStanding {
  readonly id: string;
  readonly customer_id: string;
  readonly status: "active" | "suspended" | "deleted";
}

/** More than this since a cursor is told as a complete state, which is bounded by what is out of the ordinary. */
export const MAX_CHANGES = 10_000;
/** A deleted user is listed for longer than any access token lives. */
const DELETED_LISTED_MS = 2 * 86_400_000;

/**
 * Reads what a gateway has to know, as it was at one moment: state and cursor are of one snapshot of the database.
 *
 * @param after - the cursor of the follower's last answer
 * @returns what came after it, which may be nothing; the complete state where that cannot be told
 */
export function readState(db: Knex, after: string | undefined, now: Date): Promise<GatewayState> {
  return db.transaction(
    async (trx) => {
      const extent = await readExtent(trx);
      const from = after === undefined ? undefined : await resumeFrom(trx, after, extent);
      const changes = from === undefined ? undefined : await changesSince(trx, from, extent);
      return changes === undefined
        ? { cursor: cursorOf(extent.end), complete: true, ...(await everything(trx, now)) }
        : { cursor: cursorOf(extent.end), complete: false, ...(await whatBecameOf(trx, changes)) };
    },
    { isolationLevel: "repeatable read", readOnly: true },
  );
}

interface ChangeRow {
  readonly type: GatewayChange["type"];
  readonly session_id: string | null;
  readonly until: Date | null;
  readonly customer_id: string | null;
  readonly user_id: string | null;
  readonly policy_set: string | null;
}

async function changesSince(trx: Knex, from: Place, { end }: Extent): Promise<ChangeRow[] | undefined> {
  if (from.seq === end.seq) return [];
  const rows = await trx("gateway_changes")
    .where("seq", ">", from.seq)
    .orderBy("seq")
    .limit(MAX_CHANGES + 1)
    .select<ChangeRow[]>("type", "session_id", "until", "customer_id", "user_id", "policy_set");
  return rows.length > MAX_CHANGES ? undefined : rows;
}

type Content = Omit<GatewayState, "cursor" | "complete">;

/** What differs from an active customer without policies, an active user, and a session that goes on. */
async function everything(trx: Knex, now: Date): Promise<Content> {
  // one after the other: a transaction has one connection
  const customers = await standingsThatMatter(trx, now);
  const sessions = await trx("gateway_changes")
    .where("type", "session_ended")
    .where("until", ">", now)
    .groupBy("session_id")
    .orderBy("session_id")
    .select<EndedSession[]>("session_id", trx.raw("max(until) as until"));
  const suspended = await trx("users")
    .whereNull("deleted_at")
    .where("status", "suspended")
    .select<UserRecord[]>(USER_FIELDS);
  const deleted = await trx("users")
    .where("deleted_at", ">", new Date(now.getTime() - DELETED_LISTED_MS))
    .select<UserRecord[]>(USER_FIELDS);
  return {
    customers,
    sessions_ended: sessions,
    users: [...suspended, ...deleted].map(standingOfUser),
    policy_sets: await activePolicySets(trx),
  };
}

/** How what was changed stands now; a later change is told later again, and then changes nothing. */
async function whatBecameOf(trx: Knex, changes: readonly ChangeRow[]): Promise<Content> {
  const customerIds = named(changes, "customer_changed", "customer_id");
  const userIds = named(changes, "user_changed", "user_id");
  const names = named(changes, "policy_set_activated", "policy_set");
  return {
    customers: await customersNow(trx, customerIds),
    sessions_ended: endedSessions(changes),
    users: await usersNow(trx, userIds, changes),
    policy_sets: names.length === 0 ? [] : await activePolicySets(trx, names),
  };
}

function named(
  changes: readonly ChangeRow[],
  type: GatewayChange["type"],
  column: "customer_id" | "user_id" | "policy_set",
): string[] {
  const of = changes.filter((change) => change.type === type).flatMap((change) => change[column] ?? []);
  return [...new Set(of)];
}

function endedSessions(changes: readonly ChangeRow[]): EndedSession[] {
  const byId = new Map<string, EndedSession>();
  for (const { type, session_id, until } of changes) {
    if (type !== "session_ended" || session_id === null || until === null) continue;
    const known = byId.get(session_id);
    if (known === undefined || known.until < until) byId.set(session_id, { session_id, until });
  }
  return [...byId.values()];
}

async function customersNow(trx: Knex, ids: readonly string[]): Promise<CustomerStanding[]> {
  if (ids.length === 0) return [];
  const standings = await standingOf(trx, ids);
  return ids.map((id) => standings.get(id) ?? goneCustomer(id));
}

/** A customer that changed and cannot be found has nothing that may be let in. */
function goneCustomer(id: string): CustomerStanding {
  const authentication = { mfa_required: false, allowed_email_domains: [], allowed_ip_ranges: [] };
  return { id, status: "deleted", authentication, policy_sets: [] };
}

interface UserRecord {
  readonly id: string;
  readonly customer_id: string;
  readonly status: "active" | "suspended";
  readonly deleted_at: Date | null;
}
const USER_FIELDS = ["id", "customer_id", "status", "deleted_at"];

async function usersNow(
  trx: Knex,
  ids: readonly string[],
  changes: readonly ChangeRow[],
): Promise<UserStanding[]> {
  if (ids.length === 0) return [];
  const rows = await trx("users")
    .whereRaw("id = any(?)", [[...ids]])
    .select<UserRecord[]>(USER_FIELDS);
  const found = new Map(rows.map((row) => [row.id, standingOfUser(row)]));
  const customerOf = new Map(changes.map(({ user_id, customer_id }) => [user_id, customer_id]));
  return ids.map(
    (id) => found.get(id) ?? { id, customer_id: customerOf.get(id) ?? "", status: "deleted" as const },
  );
}

function standingOfUser({ id, customer_id, status, deleted_at }: UserRecord): UserStanding {
  return { id, customer_id, status: deleted_at === null ? status : "deleted" };
}
