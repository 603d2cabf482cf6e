import type { Knex } from "knex";
import type { StateData } from "../../protocol/index.ts";
import { deletedCustomerIdsAfter } from "../resources/erasure/deleted-customers.ts";
import { unusualCustomerStatesAfter } from "../resources/policies/customer-states.ts";
import { policySetStates } from "../resources/policy-sets/gateway-states.ts";
import { endedSessionsAfter, unusualUsersAfter } from "./unusual-entries.ts";
import type { PagePlace } from "./page-cursor.ts";

/** What a page contains; the caller adds cursor and position. */
export interface PageContent extends Pick<
  StateData,
  "customers" | "customers_deleted" | "sessions_ended" | "users" | "policy_sets"
> {
  /** Where the next page begins; absent on the last one. */
  readonly next?: Pick<PagePlace, "section" | "after">;
}

/**
 * Reads one page of the complete state: entries by section and id, from a place on. Sections that are short share a page.
 * Policy sets are few, and on the last page.
 *
 * @param most - entries of a page
 */
export async function readPage(
  trx: Knex,
  now: Date,
  from: Pick<PagePlace, "section" | "after">,
  most: number,
): Promise<PageContent> {
  const content = {
    customers: [] as StateData["customers"],
    customers_deleted: [] as StateData["customers_deleted"],
    sessions_ended: [] as StateData["sessions_ended"],
    users: [] as StateData["users"],
  };
  let left = most;
  let { section, after } = from;
  const full = () => left <= 0;
  // one after the other: a transaction has one connection
  for (; section < SECTIONS; section += 1, after = "") {
    if (full()) return { ...content, policy_sets: [], next: { section, after } };
    const read = await readSection(trx, now, { section, after }, left);
    Object.assign(content, read.part);
    left -= read.ids.length;
    if (full()) return { ...content, policy_sets: [], next: { section, after: read.ids.at(-1) ?? after } };
  }
  return { ...content, policy_sets: await policySetStates(trx) };
}

/** Customers, deleted customers, ended sessions, users; their order is in cursors. */
const SECTIONS = 4;

async function readSection(
  trx: Knex,
  now: Date,
  { section, after }: Pick<PagePlace, "section" | "after">,
  most: number,
): Promise<{ readonly ids: readonly string[]; readonly part: Partial<PageContent> }> {
  switch (section) {
    case 0: {
      const { ids, states } = await unusualCustomerStatesAfter(trx, now, after, most);
      return { ids, part: { customers: states } };
    }
    case 1: {
      const ids = await deletedCustomerIdsAfter(trx, after, most);
      return { ids, part: { customers_deleted: ids } };
    }
    case 2: {
      const sessions = await endedSessionsAfter(trx, now, after, most);
      return { ids: sessions.map(({ session_id }) => session_id), part: { sessions_ended: sessions } };
    }
    default: {
      const users = await unusualUsersAfter(trx, now, after, most);
      return { ids: users.map(({ id }) => id), part: { users } };
    }
  }
}
