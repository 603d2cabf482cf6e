import type { Knex } from "knex";
import type { StateData } from "../../protocol/index.ts";
import type { CustomerState } from "../../customer-state/index.ts";
import type { GatewayChange } from "../platform/gateway-change.ts";
import { deletedCustomerIds } from "../resources/erasure/deleted-customers.ts";
import { customerStatesOf, unusualCustomerStates } from "../resources/policies/customer-states.ts";
import { activePolicySets } from "../resources/policy-sets/store.ts";
import { cursorOf, readExtent, resumeFrom, type FeedPosition } from "./cursor.ts";

/** The state that a gateway decides by in addition to its policy set: complete, or the changes. */
export interface GatewayState extends StateData {
  /** The newest change that the database held when this was read; not sent. */
  readonly end: number;
}
type UserState = StateData["users"][number];

interface EndedSession {
  readonly session_id: string;
  readonly until: Date;
}

/** Changes in one answer: reading and writing them takes others' time at both ends, and each follower's round trip does, too. */
export const PAGE_CHANGES = 10_000;
/** A gateway that is further behind gets the complete state, whose size depends only on non-default entries. */
export const MAX_BEHIND = 100_000;
/** A deleted user is listed for longer than any access token lives. */
const DELETED_LISTED_MS = 2 * 86_400_000;

/** State and cursor are of one snapshot of the database. */
const SNAPSHOT = { isolationLevel: "repeatable read", readOnly: true } as const;

/**
 * Reads what came after a cursor, which may be nothing; at most one page of it, in the order in which it was committed. Each
 * customer and user is shown as it is now: a later change of it is sent on a later page again, and then changes nothing.
 *
 * @param after - the place that the follower has reached
 * @returns `undefined` where what came after it cannot be told
 */
export function readChanges(
  db: Knex,
  after: FeedPosition,
  pageChanges: number = PAGE_CHANGES,
): Promise<GatewayState | undefined> {
  return db.transaction(async (trx) => {
    const extent = await readExtent(trx);
    const from = await resumeFrom(trx, after, extent);
    if (from === undefined || extent.end.seq - from.seq > MAX_BEHIND) return undefined;
    const found = from.seq === extent.end.seq ? [] : await changesSince(trx, from, pageChanges + 1);
    const more = found.length > pageChanges;
    const changes = more ? found.slice(0, pageChanges) : found;
    const place = (more ? changes.at(-1) : undefined) ?? extent.end;
    return {
      cursor: cursorOf(place, extent),
      complete: false,
      ...(more && { more }),
      end: extent.end.seq,
      ...(await resolveChanges(trx, changes)),
    };
  }, SNAPSHOT);
}

/** Reads the complete state: what differs from an active customer without policies, an active user, and a session that goes on. */
export function readCompleteState(db: Knex, now: Date): Promise<GatewayState> {
  return db.transaction(async (trx) => {
    const extent = await readExtent(trx);
    const { end } = extent;
    return { cursor: cursorOf(end, extent), complete: true, end: end.seq, ...(await everything(trx, now)) };
  }, SNAPSHOT);
}

interface ChangeRow extends FeedPosition {
  readonly type: GatewayChange["type"];
  readonly session_id: string | null;
  readonly until: Date | null;
  readonly customer_id: string | null;
  readonly user_id: string | null;
  readonly policy_set: string | null;
}

function changesSince(trx: Knex, from: FeedPosition, most: number): Promise<ChangeRow[]> {
  return trx("gateway_changes")
    .where("seq", ">", from.seq)
    .orderBy("seq")
    .limit(most)
    .select<ChangeRow[]>("seq", "tag", "type", "session_id", "until", "customer_id", "user_id", "policy_set");
}

type Content = Omit<GatewayState, "cursor" | "complete" | "more" | "end">;

async function everything(trx: Knex, now: Date): Promise<Content> {
  // one after the other: a transaction has one connection
  const customers = await unusualCustomerStates(trx, now);
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
    customers_deleted: await deletedCustomerIds(trx),
    sessions_ended: sessions.map(endedSessionOf),
    users: [...suspended, ...deleted].map(stateOfUser),
    policy_sets: await activePolicySets(trx),
  };
}

async function resolveChanges(trx: Knex, changes: readonly ChangeRow[]): Promise<Content> {
  const customerIds = named(changes, "customer_changed", "customer_id");
  const userIds = named(changes, "user_changed", "user_id");
  const names = named(changes, "policy_set_activated", "policy_set");
  return {
    customers: await customersNow(trx, customerIds),
    customers_deleted: [],
    sessions_ended: endedSessions(changes).map(endedSessionOf),
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

function endedSessionOf({ session_id, until }: EndedSession): StateData["sessions_ended"][number] {
  return { session_id, until: until.toISOString() };
}

async function customersNow(trx: Knex, ids: readonly string[]): Promise<CustomerState[]> {
  if (ids.length === 0) return [];
  const states = await customerStatesOf(trx, ids);
  return ids.map((id) => states.get(id) ?? deletedCustomer(id));
}

/** A customer that changed but cannot be found must not be permitted anything. */
function deletedCustomer(id: string): CustomerState {
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
): Promise<UserState[]> {
  if (ids.length === 0) return [];
  const rows = await trx("users")
    .whereRaw("id = any(?)", [[...ids]])
    .select<UserRecord[]>(USER_FIELDS);
  const found = new Map(rows.map((row) => [row.id, stateOfUser(row)]));
  const customerOf = new Map(changes.map(({ user_id, customer_id }) => [user_id, customer_id]));
  return ids.map(
    (id) => found.get(id) ?? { id, customer_id: customerOf.get(id) ?? "", status: "deleted" as const },
  );
}

function stateOfUser({ id, customer_id, status, deleted_at }: UserRecord): UserState {
  return { id, customer_id, status: deleted_at === null ? status : "deleted" };
}
