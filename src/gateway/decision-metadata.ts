import { matchMetadata } from "./access-log-filters.ts";
import type { EnvoyJson } from "./envoy-json.ts";

/** Where answers of every ext_authz filter leave their metadata, whatever the filter is called. */
export const EXT_AUTHZ_METADATA = "envoy.filters.http.ext_authz";

/** Member of the metadata of every answer that is a decision; src/extauthz/encode.ts writes both. */
export const FINAL = "final";
/** Member of the metadata of every denial, which Envoy takes for an answer of its own. */
export const DENIED = "denied";

/** A filter of access logs and local replies: the request was denied by the service, or it was not. */
export function decidedAgainst(yes: boolean): EnvoyJson {
  return matchMetadata(EXT_AUTHZ_METADATA, DENIED, { bool_match: yes }, !yes);
}

/** A filter: the service has let a WebSocket handshake in; src/extauthz/plan-metadata.ts writes the member. */
export const LOOKED_AFTER = matchMetadata(EXT_AUTHZ_METADATA, "state_epoch", { present_match: true }, false);

/** Filters of access logs: the service decided about the request, or nobody did. */
export const DECIDED = matchMetadata(EXT_AUTHZ_METADATA, FINAL, { bool_match: true }, false);
export const UNDECIDED = matchMetadata(EXT_AUTHZ_METADATA, FINAL, { bool_match: false }, true);

/**
 * Filters: there is something to carry out on the answer, or there is not. src/extauthz/plan-metadata.ts writes the member, from
 * the permission on: where no answer ever came, Lua has noted nothing.
 */
export const PLANNED = matchMetadata(EXT_AUTHZ_METADATA, "decision_id", { present_match: true }, false);
export const UNPLANNED = matchMetadata(
  EXT_AUTHZ_METADATA,
  "decision_id",
  // no id is this short, so it matches where there is none
  { string_match: { exact: "-" } },
  true,
);
