import type { Snapshot } from "./snapshot.ts";

/** What decides for whom the candidate counts: the same user, customer or client address always gets the same set. */
export const STICKY_KEYS = ["user", "customer", "client_ip"] as const;
export type StickyKey = (typeof STICKY_KEYS)[number];

/** How a candidate is used. */
export interface RolloutTerms {
  /** `shadow`: it is evaluated beside the stable set and decides nothing. `enforce`: it decides for a part of the callers. */
  readonly mode: "shadow" | "enforce";
  /** The part of the callers for whom it decides, in percent. Without effect in shadow mode. */
  readonly percentage: number;
  readonly stickyBy: StickyKey;
}

/** A policy set that is being rolled out beside the gateway's own. */
export interface Candidate extends RolloutTerms {
  readonly set: Snapshot;
  /** In a worker: the file with the compiled set, which stays until the candidate is no longer in force. */
  readonly file?: string;
}

/** The set that decides on a request while a candidate is enforced for a part of the callers. */
export interface RolloutArm {
  readonly name: "stable" | "candidate";
  readonly set: Snapshot;
}

/**
 * The policy sets that are in force together: the gateway's own, its candidate, and those of customers by name.
 * Immutable: a request takes it once and uses it until the end.
 */
export interface PolicyRelease {
  readonly main: Snapshot;
  readonly candidate?: Candidate;
  readonly customers: ReadonlyMap<string, Snapshot>;
}

/** The source of a process's current release. */
export interface PoliciesInForce {
  /** The current release; `undefined` until there is one. */
  readonly current: PolicyRelease | undefined;
  /** Calls `listener` after each change. */
  afterChange(listener: () => void): void;
}
