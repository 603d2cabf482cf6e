import type { ControlSettings } from "../../platform/context.ts";

/** When keys start to sign, and how long they stay published; in milliseconds. */
export interface KeySchedule {
  /** How long a key signs before the next one takes over. */
  readonly signsForMs: number;
  /** How long a key is published before it signs: by then, every cached JWKS contains it. */
  readonly aheadMs: number;
  /** How long a key stays published after the next one starts signing: until its last token has expired everywhere. */
  readonly afterMs: number;
  /** How long an instance may use the keys that it has read; shorter than `aheadMs`. */
  readonly cachedMs: number;
}

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
/** Maximum difference between the clocks of instances and gateways. */
const TOLERANCE_MS = 5 * MINUTE_MS;

/** Computes the schedule from the settings. */
export function keySchedule(
  settings: Pick<ControlSettings, "signingKeySeconds" | "accessTokenSeconds">,
): KeySchedule {
  const signsForMs = settings.signingKeySeconds * 1000;
  const aheadMs = Math.min(HOUR_MS, signsForMs / 2);
  return {
    signsForMs,
    aheadMs,
    afterMs: settings.accessTokenSeconds * 1000 + TOLERANCE_MS,
    cachedMs: Math.min(MINUTE_MS / 2, aheadMs / 4),
  };
}
