import type { PlanIR } from "../../policy/index.ts";
import type { ShadowRecord } from "../../protocol/index.ts";
import type { Reason } from "../../reasons.ts";
import type { Caller } from "../decide/identify.ts";
import type { AccessRequest } from "../types.ts";

/** The candidate, as a compiled set in a file. */
export interface ShadowCandidate {
  readonly file: string;
  readonly label: string;
  readonly digest: string;
}

/** What the stable set decided on a request, and all that the candidate needs to decide on it. */
export interface ShadowTask {
  readonly access: AccessRequest;
  /** The caller by its token, and after its session was checked. */
  readonly found: Caller;
  readonly checked: Caller;
  readonly stable: {
    readonly verdict: "ALLOW" | "DENY";
    readonly reason: Reason;
    readonly rule: string | null;
    /** Without what the customer's own sets add. */
    readonly plan: PlanIR | undefined;
    /** The customer's own sets have permitted the request as well. */
    readonly isJoined: boolean;
    readonly label: string;
    readonly digest: string;
  };
}

/** To the thread. */
export interface ShadowBatch {
  readonly candidate: ShadowCandidate;
  readonly tasks: readonly ShadowTask[];
}

/** From the thread, once: it takes batches now. Loading its code takes long on a busy machine. */
export interface ShadowReady {
  readonly ready: true;
}

/** From the thread: about one batch. */
export interface ShadowResults {
  /** Tasks with the same outcome for both sets. */
  readonly same: number;
  /** Tasks on which the candidate could not decide. */
  readonly failed: number;
  /** Tasks for which the candidate needs a body that the stable set did not. */
  readonly bodiless: number;
  readonly differences: readonly ShadowRecord[];
  /** How long the batch kept the thread busy, without waiting for look-ups and without loading the candidate; ms. */
  readonly busyMs: number;
}
