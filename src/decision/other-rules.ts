import type { Match, Matchable, Matcher } from "../policy/index.ts";
import type { CanonicalRequest, Variant } from "../request/index.ts";
import { isWebsocketUpgrade } from "./judge-upgrade.ts";
import type { Snapshot } from "./snapshot.ts";

/** Whether a set has other rules for a variant of the path than for the path, in any section that is asked about it. */
export function hasOtherRules(
  { matcher, endpoints, connections, responses }: Snapshot,
  { of, request }: Variant,
): boolean {
  if (isForOther(matcher, of, request) || isForOther(endpoints, of, request)) return true;
  if (isWebsocketUpgrade(of) && isForOther(connections, of, request)) return true;
  const known = responses.all(of.method, of.segments);
  return responses.all(request.method, request.segments).some((rule) => !known.includes(rule));
}

/** A rule that spells the end of the path as it is sent is meant for it, formats or not. */
function isForOther<Rule extends Matchable>(
  matcher: Matcher<Rule>,
  of: CanonicalRequest,
  as: CanonicalRequest,
): boolean {
  const other = matcher.match(as.method, as.segments);
  if (other.kind === "none") return false;
  const own = matcher.match(of.method, of.segments);
  if (own.kind !== "rule") return true;
  return other.kind === "case" || (other.rule !== own.rule && !spellsEnd(own, of));
}

function spellsEnd<Rule extends Matchable>(
  { rule }: Match<Rule> & { kind: "rule" },
  { segments }: CanonicalRequest,
): boolean {
  return rule.segments[segments.length - 1]?.kind === "literal";
}
