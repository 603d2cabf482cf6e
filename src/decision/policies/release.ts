import type { Snapshot } from "./snapshot.ts";

/**
 * The policy sets that are in force together: the gateway's own, and those of customers by name. Immutable: a request
 * takes it once and keeps it to its end.
 */
export interface PolicyRelease {
  readonly main: Snapshot;
  readonly customers: ReadonlyMap<string, Snapshot>;
}

/** What a process decides by. */
export interface PoliciesInForce {
  /** At the moment of the call; `undefined` until there is one. */
  readonly current: PolicyRelease | undefined;
  /** Calls `listener` after each change. */
  afterChange(listener: () => void): void;
}
