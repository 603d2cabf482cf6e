import type { StateData } from "../../../src/protocol/index.ts";

/** What `GET /gateway/state` answers. */
export type State = StateData;

/** Follows the state as simply as can be: what it ends with is what the feed has told. */
export class Follower {
  cursor: string | undefined;
  completes = 0;
  readonly customers = new Map<string, unknown>();
  readonly sessions = new Map<string, string>();
  readonly users = new Map<string, string>();
  readonly policySets = new Map<string, string>();
  readonly #read: (query: string) => Promise<State>;
  #stopped = false;

  constructor(read: (query: string) => Promise<State>) {
    this.#read = read;
  }

  /** Follows until {@link stop}. */
  async start(): Promise<void> {
    while (!this.#stopped) {
      const query = this.cursor === undefined ? "" : `?wait=5&after=${this.cursor}`;
      this.apply(await this.#read(query));
    }
  }

  stop(): void {
    this.#stopped = true;
  }

  apply(state: State): void {
    if (state.complete) {
      this.completes += 1;
      for (const map of [this.customers, this.sessions, this.users, this.policySets]) map.clear();
    }
    for (const customer of state.customers) {
      const { id, status, authentication, policy_sets } = customer;
      const ordinary =
        status === "active" &&
        policy_sets.length === 0 &&
        !authentication.mfa_required &&
        authentication.max_session_duration === undefined &&
        authentication.allowed_email_domains.length === 0 &&
        authentication.allowed_ip_ranges.length === 0;
      if (ordinary) this.customers.delete(id);
      else this.customers.set(id, customer);
    }
    for (const { session_id, until } of state.sessions_ended) this.sessions.set(session_id, until);
    for (const { id, status } of state.users) {
      if (status === "active") this.users.delete(id);
      else this.users.set(id, status);
    }
    for (const { name, version, digest } of state.policy_sets)
      this.policySets.set(name, `${version} ${digest}`);
    this.cursor = state.cursor;
  }

  content(): object {
    const { customers, sessions, users, policySets } = this;
    return { customers, sessions, users, policySets };
  }
}
