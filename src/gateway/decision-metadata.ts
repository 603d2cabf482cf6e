import { DECISION, NAMESPACE } from "../envoy-contract.ts";
import { matchMetadata } from "./access-log-filters.ts";
import type { EnvoyJson } from "./envoy-json.ts";

/** A filter of access logs and local replies: the request was denied by the service, or it was not. Envoy takes a denial for an answer of its own. */
export function decidedAgainst(yes: boolean): EnvoyJson {
  return decision(DECISION.denied, { bool_match: yes }, !yes);
}

/** A filter: the service has let a WebSocket handshake in. */
export const LOOKED_AFTER = decision(DECISION.state_epoch, { present_match: true }, false);

/** Filters of access logs: the service decided about the request, or nobody did. */
export const DECIDED = decision(DECISION.final, { bool_match: true }, false);
export const UNDECIDED = decision(DECISION.final, { bool_match: false }, true);

/**
 * Filters: there is something to carry out on the answer, or there is not. the member is there from the permission
 * on: where no answer ever came, Lua has noted nothing.
 */
export const PLANNED = decision(DECISION.decision_id, { present_match: true }, false);
export const UNPLANNED = decision(
  DECISION.decision_id,
  // no id is this short, so it matches where there is none
  { string_match: { exact: "-" } },
  true,
);

function decision(member: keyof typeof DECISION, value: EnvoyJson, otherwise: boolean): EnvoyJson {
  return matchMetadata(NAMESPACE.decision, member, value, otherwise);
}
