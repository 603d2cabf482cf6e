import { CLOSE, type CLOSING } from "../../envoy-contract.ts";
import { REASONS, type DenialReason } from "../../reasons.ts";

/** How a connection is closed: a code of RFC 6455 (section 7.4), and a reason that the client may see. */
export interface Closing extends Record<keyof typeof CLOSING, unknown> {
  readonly code: number;
  readonly reason: string;
}

const POLICY_VIOLATION = 1008;
const INTERNAL_ERROR = 1011;
const COME_AGAIN = 1012;
const TRY_AGAIN_LATER = 1013;

export const SESSION_ENDED: Closing = { code: POLICY_VIOLATION, reason: "SESSION_ENDED" };

/** It is permitted, but only under its new plan, for which there is no room: a new handshake brings that along. */
export const NO_ROOM_FOR_PLAN: Closing = { code: COME_AGAIN, reason: CLOSE.POLICY_CHANGED };

/** It was let in as nobody's: how long it may last, and what ends it, depends on who it is. */
export const NOW_IDENTIFIED: Closing = { code: COME_AGAIN, reason: "IDENTITY_CHANGED" };

/** What the client is told: that its permission is gone, or that the trouble is ours. */
export function closingFor(reason: DenialReason): Closing {
  const { status, code } = REASONS[reason];
  if (status === 503) return { code: TRY_AGAIN_LATER, reason: code };
  if (status === 500) return { code: INTERNAL_ERROR, reason: code };
  return { code: POLICY_VIOLATION, reason: status === 401 ? code : CLOSE.POLICY_CHANGED };
}
