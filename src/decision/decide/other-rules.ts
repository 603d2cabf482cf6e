import type { Matchable, Matcher } from "../../policy/index.ts";
import type { CanonicalRequest, Variant } from "../../request/index.ts";
import { isWebsocketUpgrade } from "./evaluate-upgrade.ts";
import type { Snapshot } from "../policies/snapshot.ts";

/**
 * Whether a set has different rules for a variant of the path than for the path itself, in any section that applies.
 */
export function hasOtherRules(
  { matcher, endpoints, connections, responses }: Snapshot,
  variant: Variant,
): boolean {
  const { of, request } = variant;
  if (isForOther(matcher, variant) || isForOther(endpoints.matcher, variant)) return true;
  if (isWebsocketUpgrade(of) && isForOther(connections, variant)) return true;
  const known = responses.all(of.method, of.segments);
  return responses.all(request.method, request.segments).some((rule) => !known.includes(rule));
}

function isForOther<Rule extends Matchable>(matcher: Matcher<Rule>, { of, request, by }: Variant): boolean {
  const own = matcher.match(of.method, of.segments);
  const other = matcher.match(request.method, request.segments);
  if (own.kind === other.kind && (own.kind !== "rule" || other.kind !== "rule" || own.rule === other.rule))
    return false;
  // a variant without a rule is not protected anyway; but a literal in a rule may match only part of what is sent
  if (by === "as_sent") return true;
  if (other.kind !== "rule") return other.kind === "case";
  return !(own.kind === "rule" && spellsMore(own.rule, other.rule, of));
}

/**
 * A rule whose literals include the end of the path as sent, and all literals of the other rule, is intended for this
 * path, with or without a format suffix.
 */
function spellsMore(rule: Matchable, other: Matchable, { segments }: CanonicalRequest): boolean {
  const spells = (at: number) => rule.segments[at]?.kind === "literal";
  return (
    spells(segments.length - 1) && other.segments.every(({ kind }, at) => kind !== "literal" || spells(at))
  );
}
