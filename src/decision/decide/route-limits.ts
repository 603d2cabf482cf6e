import { createMatcher, type Matchable, type SegmentIR } from "../../policy/evaluation.ts";
import type { CanonicalRequest } from "../../request/index.ts";

/** A path with limits of its own. */
export interface LimitedRoute {
  readonly segments: readonly SegmentIR[];
  /** In the same order everywhere; a smaller one is stricter. */
  readonly limits: readonly number[];
  /** The largest response that can be masked. */
  readonly responseSize: number;
}

export interface RouteSettings {
  readonly routes: readonly LimitedRoute[];
  /** Of paths that no route matches. */
  readonly usual: readonly number[];
}

interface Entry extends Matchable {
  readonly index: number;
}

/**
 * @returns a function that finds the route whose limits apply to a request, by its index: the most specific one, whatever
 *   the letter case. `undefined`: the usual limits. If the readings of a request belong to several, the strictest apply;
 *   `"conflict"` if none is the strictest in everything
 */
export function createRouteFinder({
  routes,
  usual,
}: RouteSettings): (readings: readonly CanonicalRequest[]) => number | undefined | "conflict" {
  const rules = routes.map(({ segments }, index): Entry => ({
    section: "policies",
    method: "*",
    segments,
    index,
  }));
  const matcher = createMatcher({ rules });
  const limitsOf = (index: number | undefined) =>
    index === undefined ? usual : (routes[index]?.limits ?? usual);

  const routeOf = ({ method, segments }: CanonicalRequest) => {
    const match = matcher.match(method, segments);
    return match.kind === "none" ? undefined : match.rule.index;
  };
  const isStrictest = (index: number | undefined, all: readonly (number | undefined)[]) =>
    all.every((other) => limitsOf(index).every((limit, at) => limit <= (limitsOf(other)[at] ?? 0)));

  return (readings) => {
    if (rules.length === 0) return undefined;
    const found = [...new Set(readings.map(routeOf))];
    const strictest = found.findIndex((index) => isStrictest(index, found));
    return strictest < 0 ? "conflict" : found[strictest];
  };
}
