import { isObject } from "../json/index.ts";
import type { ValueObject } from "../policy/value.ts";
import type { ClaimPath } from "./claim-path.ts";

/**
 * Tells which claims a token refers to instead of containing them: those in `_claim_names` (distributed and aggregated
 * claims: OpenID Connect Core 1.0, section 5.6.2), and `groups` if it has `hasgroups`. Entra does that for a user with more
 * groups than fit in a token. Such a claim is not empty: its value is not known here.
 *
 * @returns whether a claim is omitted; `undefined` if `_claim_names` is malformed
 */
export function omittedClaims(payload: ValueObject): ((claim: ClaimPath) => boolean) | undefined {
  const { _claim_names: names = null, hasgroups: hasGroups = false } = payload;
  if (names !== null && !isObject(names)) return undefined;
  const omitted = new Set(names === null ? [] : Object.keys(names));
  if (hasGroups !== false && hasGroups !== null) omitted.add("groups");
  if (omitted.size === 0) return NOTHING;
  return ({ whole, names: [first = ""] }) => omitted.has(whole) || omitted.has(first);
}

const NOTHING = () => false;
