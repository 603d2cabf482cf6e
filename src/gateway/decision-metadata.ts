import { DECISION, NAMESPACE, NOTE, STATE } from "../envoy-contract.ts";
import { matchMetadata } from "./access-log-filters.ts";
import type { EnvoyJson } from "./envoy-json.ts";

/** Matches requests that the service denied, or did not deny. Envoy counts a denial among its own responses. */
export function decidedAgainst(yes: boolean): EnvoyJson {
  return decision(DECISION.denied, { bool_match: yes }, !yes);
}

/** Matches WebSocket handshakes that the service permitted. */
export const LOOKED_AFTER = decision(DECISION.state_epoch, { present_match: true }, false);

/** Match requests with and without a decision by the service. */
export const DECIDED = decision(DECISION.final, { bool_match: true }, false);
export const UNDECIDED = decision(DECISION.final, { bool_match: false }, true);

/**
 * Match requests with and without a plan for the response. The member is present from the permission on, because without a
 * response Lua has recorded nothing.
 */
export const PLANNED = decision(DECISION.decision_id, { present_match: true }, false);
export const UNPLANNED = decision(
  DECISION.decision_id,
  // no id is this short, so it matches if there is none
  { string_match: { exact: "-" } },
  true,
);

/** Matches responses that Lua refused at their headers. */
export const REFUSED = matchMetadata(
  NAMESPACE.notes,
  NOTE.state,
  { string_match: { exact: STATE.refused } },
  false,
);

function decision(member: keyof typeof DECISION, value: EnvoyJson, otherwise: boolean): EnvoyJson {
  return matchMetadata(NAMESPACE.decision, member, value, otherwise);
}
