import type { StateAnswer } from "../protocol/index.ts";
import type { StateChange } from "./state-feed-types.ts";

/** Whether it contains anything besides the new cursor. */
export function saysSomething({ customers, sessions_ended, users, policy_sets }: StateAnswer): boolean {
  return customers.length + sessions_ended.length + users.length + policy_sets.length > 0;
}

/** What listeners are told of a response that was put in force. */
export function changeOf({
  complete,
  customers,
  sessions_ended,
  users,
  policy_sets,
}: StateAnswer): StateChange {
  return {
    sessions: sessions_ended.map(({ session_id }) => session_id),
    customers: customers.map(({ id }) => id),
    users: users.map(({ id }) => id),
    policySets: policy_sets.map(({ name }) => name),
    complete,
  };
}
