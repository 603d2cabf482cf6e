import type { StateAnswer } from "../protocol/index.ts";
import type { CustomerState } from "../customer-state/index.ts";
import { PersistentMap } from "./persistent-map.ts";

/** Clocks differ, and tolerances extend a token's validity: more than any gateway tolerates. */
const SESSION_MARGIN_MS = 10 * 60_000;

export type UserStatus = StateAnswer["users"][number]["status"];

/** A version of a policy set. */
export type ActiveVersion = Omit<StateAnswer["policy_sets"][number], "name">;

/** The last state received from the control plane, as one immutable value. */
export interface SyncedState {
  readonly cursor: string;
  /** `undefined`: the default, which is active and without policies. */
  customer(id: string): CustomerState | undefined;
  sessionEnded(id: string): boolean;
  userStatus(id: string): UserStatus;
  /** The active version of a set; `undefined` if none is known. */
  policySet(name: string): ActiveVersion | undefined;
  /** Sets that any customer uses. */
  namedPolicySets(): Iterable<string>;
}

interface Parts {
  readonly cursor: string;
  readonly customers: PersistentMap<CustomerState>;
  /** All customers that were ever deleted, by id only, because there may be many. */
  readonly deletedCustomers: PersistentMap<true>;
  /** By session: when it may be dropped, Unix ms. */
  readonly sessions: PersistentMap<number>;
  /** Users that are not active. */
  readonly users: PersistentMap<UserStatus>;
  readonly policySets: PersistentMap<ActiveVersion>;
  /** How many customers use a set. */
  readonly named: PersistentMap<number>;
}

/** {@link SyncedState} that can derive the next one, at a cost proportional to the change and not to the state. */
export class AppliedState implements SyncedState {
  readonly #parts: Parts;

  private constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** @returns the state of a complete response, and nothing else */
  static of(answer: StateAnswer): AppliedState {
    const nothing: Parts = {
      cursor: "",
      customers: PersistentMap.empty(),
      deletedCustomers: PersistentMap.empty(),
      sessions: PersistentMap.empty(),
      users: PersistentMap.empty(),
      policySets: PersistentMap.empty(),
      named: PersistentMap.empty(),
    };
    return new AppliedState(nothing).after(answer);
  }

  get cursor(): string {
    return this.#parts.cursor;
  }

  customer(id: string): CustomerState | undefined {
    const { customers, deletedCustomers } = this.#parts;
    return customers.get(id) ?? (deletedCustomers.get(id) && deletedCustomer(id));
  }

  sessionEnded(id: string): boolean {
    return this.#parts.sessions.get(id) !== undefined;
  }

  userStatus(id: string): UserStatus {
    return this.#parts.users.get(id) ?? "active";
  }

  policySet(name: string): ActiveVersion | undefined {
    return this.#parts.policySets.get(name);
  }

  namedPolicySets(): Iterable<string> {
    return this.#parts.named.keys();
  }

  /** Number of entries: everything that differs from the default. */
  get size(): number {
    const { customers, deletedCustomers, sessions, users, policySets } = this.#parts;
    return customers.size + deletedCustomers.size + sessions.size + users.size + policySets.size;
  }

  /** @returns the state with a response's changes applied */
  after(answer: StateAnswer): AppliedState {
    let { customers, deletedCustomers, sessions, users, policySets, named } = this.#parts;
    for (const id of answer.customers_deleted ?? []) deletedCustomers = deletedCustomers.with(id, true);
    for (const customer of answer.customers) {
      named = renamed(named, customers.get(customer.id)?.policy_sets ?? [], customer.policy_sets);
      // if a customer's entry contradicts the list, the entry wins
      if (customer.status !== "deleted") deletedCustomers = deletedCustomers.without(customer.id);
      customers = isOrdinary(customer)
        ? customers.without(customer.id)
        : customers.with(customer.id, customer);
    }
    for (const { session_id, until } of answer.sessions_ended) {
      const forgettable = Date.parse(until) + SESSION_MARGIN_MS;
      sessions = sessions.with(session_id, Math.max(forgettable, sessions.get(session_id) ?? 0));
    }
    for (const { id, status } of answer.users) {
      users = status === "active" ? users.without(id) : users.with(id, status);
    }
    for (const { name, version, digest, rollout } of answer.policy_sets) {
      policySets = policySets.with(name, { version, digest, ...(rollout && { rollout }) });
    }
    const { cursor } = answer;
    return new AppliedState({ cursor, customers, deletedCustomers, sessions, users, policySets, named });
  }

  /** When a session may be dropped, Unix ms. */
  forgettableAt(session: string): number | undefined {
    return this.#parts.sessions.get(session);
  }

  /** @returns the state without these sessions */
  forgetting(sessions: readonly string[]): AppliedState {
    const left = sessions.reduce((rest, id) => rest.without(id), this.#parts.sessions);
    return new AppliedState({ ...this.#parts, sessions: left });
  }
}

/** Whether nothing of it may be granted access. */
function deletedCustomer(id: string): CustomerState {
  const authentication = { mfa_required: false, allowed_email_domains: [], allowed_ip_ranges: [] };
  return { id, status: "deleted", authentication, policy_sets: [] };
}

function isOrdinary({ status, authentication, policy_sets }: CustomerState): boolean {
  return (
    status === "active" &&
    policy_sets.length === 0 &&
    !authentication.mfa_required &&
    authentication.max_session_duration === undefined &&
    authentication.allowed_email_domains.length === 0 &&
    authentication.allowed_ip_ranges.length === 0
  );
}

function renamed(
  named: PersistentMap<number>,
  before: readonly string[],
  now: readonly string[],
): PersistentMap<number> {
  let counts = named;
  for (const name of new Set(now)) counts = counts.with(name, (counts.get(name) ?? 0) + 1);
  for (const name of new Set(before)) {
    const left = (counts.get(name) ?? 0) - 1;
    counts = left > 0 ? counts.with(name, left) : counts.without(name);
  }
  return counts;
}
