import { CLOSE, type CLOSING } from "../../envoy-contract.ts";
import { REASONS, type DenialReason } from "../../reasons.ts";

/** How a connection is closed: a code of RFC 6455 (section 7.4), and a reason for the client. */
export interface Closing extends Partial<Record<keyof typeof CLOSING, unknown>> {
  readonly code: number;
  readonly reason: string;
  /** The digest of the set that does not permit it. */
  readonly set?: string;
}

const POLICY_VIOLATION = 1008;
const INTERNAL_ERROR = 1011;
const COME_AGAIN = 1012;
const TRY_AGAIN_LATER = 1013;

export const SESSION_ENDED: Closing = { code: POLICY_VIOLATION, reason: "SESSION_ENDED" };

/**
 * The connection is permitted under a new plan, but there is no room for the plan: the client gets it with a new
 * handshake.
 */
export const NO_ROOM_FOR_PLAN: Closing = { code: COME_AGAIN, reason: CLOSE.POLICY_CHANGED };

/** It is not known, not any more, or its first message was already asked about. */
export const UNKNOWN_CONNECTION: Closing = { code: TRY_AGAIN_LATER, reason: CLOSE.SERVICE_UNAVAILABLE };

/** It was accepted without an identity, but its lifetime and what ends it depend on the identity. */
export const NOW_IDENTIFIED: Closing = { code: COME_AGAIN, reason: "IDENTITY_CHANGED" };

/**
 * What the client is told: that its permission has ended, or that the server has failed.
 *
 * @param set - the digest of the set that denies it, for the record
 */
export function closingFor(reason: DenialReason, set?: string): Closing {
  const { status, code } = REASONS[reason];
  if (status === 503 || status === 429) return { code: TRY_AGAIN_LATER, reason: code };
  if (status === 500) return { code: INTERNAL_ERROR, reason: code };
  if (status === 401) return { code: POLICY_VIOLATION, reason: code };
  return { code: POLICY_VIOLATION, reason: CLOSE.POLICY_CHANGED, ...(set !== undefined && { set }) };
}
