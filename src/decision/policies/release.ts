import type { Snapshot } from "./snapshot.ts";

/**
 * The policy sets that are in force together: the gateway's own, and those of customers by name. Immutable: a request
 * takes it once and uses it until the end.
 */
export interface PolicyRelease {
  readonly main: Snapshot;
  readonly customers: ReadonlyMap<string, Snapshot>;
}

/** The source of a process's current release. */
export interface PoliciesInForce {
  /** The current release; `undefined` until there is one. */
  readonly current: PolicyRelease | undefined;
  /** Calls `listener` after each change. */
  afterChange(listener: () => void): void;
}
