import { quoted } from "../../text/index.ts";
import { placeOf } from "../syntax/place-of.ts";
import type { SegmentIR } from "../ir.ts";
import { parsePattern } from "../pattern/parse-pattern.ts";
import { GRAPHQL_DEFAULTS, type PathRuleSource } from "../read/index.ts";
import type { PolicySetCheck } from "./policy-set-check.ts";

/**
 * A rule for a whole tree of paths that contains a GraphQL endpoint also permits every other path in it. If a GraphQL
 * server answers there as well, its operations are not evaluated.
 */
export const uncheckedOperations: PolicySetCheck = (set, report) => {
  if (set.graphql.length === 0) return;
  const { paths } = set.head.graphql?.settings ?? GRAPHQL_DEFAULTS;
  for (const rule of set.rules) {
    const endpoint = paths.find((path) => permitsAround(rule, parsePattern(path, "none").segments));
    if (endpoint === undefined) continue;
    report.warning(
      placeOf(rule.pattern.node),
      "unchecked-operations",
      `${quoted(rule.pattern.text)} permits more paths than the GraphQL endpoint ${quoted(endpoint)}, but operations are evaluated only there`,
      "list every path at which a GraphQL server answers in `graphql.paths`, or name the other paths in rules of their own",
    );
  }
};

/** Methods by which servers accept operations, or begin to. */
const METHODS: readonly string[] = ["*", "GET", "POST"];

/** Whether a rule permits operations in a tree of paths that contains the endpoint. */
export function permitsAround(
  { pattern, condition }: PathRuleSource,
  endpoint: readonly SegmentIR[],
): boolean {
  if (pattern.segments.at(-1)?.kind !== "rest" || !METHODS.includes(pattern.method)) return false;
  if (condition.ast.op === "literal" && condition.ast.value !== true) return false;
  const above = pattern.segments.slice(0, -1);
  return above.length < endpoint.length && above.every((segment, index) => overlap(segment, endpoint[index]));
}

function overlap(a: SegmentIR, b: SegmentIR | undefined): boolean {
  return a.kind !== "literal" || b?.kind !== "literal" || a.value === b.value;
}
