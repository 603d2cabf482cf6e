import type { Knex } from "knex";
import type { StateData } from "../../protocol/index.ts";
import type { CustomerState } from "../../customer-state/index.ts";
import type { GatewayChange } from "../platform/gateway-change.ts";
import { customerStatesOf } from "../resources/policies/customer-states.ts";
import { policySetStates } from "../resources/policy-sets/gateway-states.ts";
import { readPage } from "./complete-pages.ts";
import { cursorOf, readExtent, resumeFrom, type FeedPosition } from "./cursor.ts";
import { pageCursorOf, type PagePlace } from "./page-cursor.ts";
import {
  endedSessionOf,
  stateOfUser,
  USER_FIELDS,
  type EndedSession,
  type UserRecord,
  type UserState,
} from "./unusual-entries.ts";

/** The state that a gateway decides by in addition to its policy set: complete, or the changes. */
export interface GatewayState extends StateData {
  /** The newest change that the database held when this was read; not sent. */
  readonly end: number;
}

/** Changes in one answer: reading and writing them takes others' time at both ends, and each follower's round trip does, too. */
export const PAGE_CHANGES = 10_000;
/** A gateway that is further behind gets the complete state, whose size depends only on non-default entries. */
export const MAX_BEHIND = 100_000;

/** State and cursor are of one snapshot of the database. */
const SNAPSHOT = { isolationLevel: "repeatable read", readOnly: true } as const;

/**
 * Reads what came after a cursor, which may be nothing; at most one page of it, in the order in which it was committed. Each
 * customer and user is shown as it is now: a later change of it is sent on a later page again, and then changes nothing. One
 * that is active now waits for that page: sessions that ended while it was not are on the pages before it.
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
    const content = await resolveChanges(trx, changes);
    if (content === undefined) return undefined;
    return {
      cursor: cursorOf(place, extent),
      complete: false,
      ...(more && { more }),
      end: extent.end.seq,
      ...content,
      ...(more && {
        customers: await withoutThoseThatWait(trx, place, CUSTOMERS, content.customers),
        users: await withoutThoseThatWait(trx, place, USERS, content.users),
      }),
    };
  }, SNAPSHOT);
}

/**
 * Reads the complete state: what differs from an active customer without policies, an active user, and a session that goes
 * on. In one answer for followers of earlier releases.
 */
export function readCompleteState(db: Knex, now: Date): Promise<GatewayState> {
  return db.transaction(async (trx) => {
    const extent = await readExtent(trx);
    const { end } = extent;
    const { next: _, ...content } = await readPage(trx, now, BEGINNING, EVERYTHING);
    return { cursor: cursorOf(end, extent), complete: true, end: end.seq, ...content };
  }, SNAPSHOT);
}

/**
 * Reads one page of the complete state. Pages are read at different moments: a follower that has all of them reads the changes
 * since the first one, from the cursor of the last.
 *
 * @param place - absent for the first page
 * @returns `undefined` if what has changed since the first page can no longer be determined
 */
export function readCompletePage(
  db: Knex,
  now: Date,
  place: PagePlace | undefined,
  entries: number = PAGE_CHANGES,
): Promise<GatewayState | undefined> {
  return db.transaction(async (trx) => {
    const extent = await readExtent(trx);
    if (place !== undefined && (await resumeFrom(trx, place.end, extent)) === undefined) return undefined;
    const { end } = place ?? extent;
    const { next, ...content } = await readPage(trx, now, place ?? BEGINNING, entries);
    return {
      cursor: next === undefined ? cursorOf(end, extent) : pageCursorOf({ end, ...next }),
      complete: place === undefined,
      ...(next !== undefined && { more: true }),
      end: extent.end.seq,
      ...content,
    };
  }, SNAPSHOT);
}

const BEGINNING = { section: 0, after: "" };
const EVERYTHING = Number.MAX_SAFE_INTEGER;

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

const CUSTOMERS = ["customer_changed", "customer_id"] as const;
const USERS = ["user_changed", "user_id"] as const;

/** Leaves out those that are active and have a change of this type after a place. */
async function withoutThoseThatWait<Entry extends { readonly id: string; readonly status: string }>(
  trx: Knex,
  { seq }: FeedPosition,
  [type, column]: readonly ["customer_changed", "customer_id"] | readonly ["user_changed", "user_id"],
  entries: readonly Entry[],
): Promise<Entry[]> {
  const active = entries.filter(({ status }) => status === "active").map(({ id }) => id);
  const waiting =
    active.length === 0
      ? []
      : await trx("gateway_changes")
          .where("seq", ">", seq)
          .where({ type })
          .whereRaw("?? = any(?)", [column, active])
          .distinct()
          .pluck<string[]>(column);
  const later = new Set(waiting);
  return entries.filter(({ id }) => !later.has(id));
}

/** @returns `undefined` if a policy set is gone, which only a complete state can tell */
async function resolveChanges(trx: Knex, changes: readonly ChangeRow[]): Promise<Content | undefined> {
  const customerIds = named(changes, "customer_changed", "customer_id");
  const userIds = named(changes, "user_changed", "user_id");
  const names = named(changes, "policy_set_activated", "policy_set");
  const sets = names.length === 0 ? [] : await policySetStates(trx, names);
  if (sets.length < names.length) return undefined;
  return {
    customers: await customersNow(trx, customerIds),
    customers_deleted: [],
    sessions_ended: endedSessions(changes).map(endedSessionOf),
    users: await usersNow(trx, userIds, changes),
    policy_sets: sets,
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
