import { inBackticks } from "../../text/index.ts";
import { Effort, findAttributes, textDomains, TRUE } from "../analyze/index.ts";
import { compileCondition } from "../condition/index.ts";
import { foldCase } from "../match/fold.ts";
import { parsePattern } from "../pattern/parse-pattern.ts";
import { GRAPHQL_DEFAULTS, type PathRuleSource } from "../read/index.ts";
import type { SegmentIR } from "../ir.ts";
import { placeOf } from "../syntax/place-of.ts";
import { permitsAround } from "./unchecked-operations.ts";
import type { PolicySetCheck } from "./policy-set-check.ts";

/** What finding out whether rules permit POST may cost: for all of a set, and for each. */
const EFFORT = 20_000;
const EFFORT_OF_ONE = 2000;
/** The finding names at most this many rules. */
const MAX_NAMED = 5;
/** The last segment of the paths at which GraphQL servers usually answer. */
const USUAL_NAMES: ReadonlySet<string> = new Set(["graphql", "gql"]);

/**
 * Rules for whole trees of paths that contain no GraphQL endpoint, and for paths that are named like one. The gateway does not
 * look for operations in the bodies that they permit (decision 52), so a server there executes any. One finding for all trees,
 * because most sets have such rules for other reasons. Those that permit no POST are left out: nearly every set has some.
 */
export const operationsElsewhere: PolicySetCheck = (set, report) => {
  if (set.graphql.length === 0) return;
  const { paths } = set.head.graphql?.settings ?? GRAPHQL_DEFAULTS;
  const endpoints = paths.map((path) => parsePattern(path, "none").segments);
  const effort = new Effort(EFFORT);
  const isUnread = (rule: PathRuleSource) =>
    !endpoints.some((endpoint) => permitsAround(rule, endpoint) || covers(endpoint, rule)) &&
    permitsUnreadPost(rule, new Effort(EFFORT_OF_ONE, effort));
  const found = set.rules.filter((rule) => rule.pattern.segments.at(-1)?.kind === "rest" && isUnread(rule));
  const [first] = found;
  if (first !== undefined)
    report.warning(
      placeOf(first.pattern.node),
      "unchecked-operations",
      `GraphQL operations sent below ${namesOf(found)} would not be evaluated: only those sent to \`graphql.paths\` are`,
      "list every path at which a GraphQL server answers in `graphql.paths`; in rules for anything else, write the paths without " +
        "a wildcard, restrict `request.method`, or refuse operations with `not exists(request.body.query)`",
    );
  const named = set.rules.filter((rule) => isNamedLikeEndpoint(rule) && isUnread(rule));
  const [firstNamed] = named;
  if (firstNamed === undefined) return;
  report.warning(
    placeOf(firstNamed.pattern.node),
    "unchecked-operations",
    `GraphQL operations sent to ${namesOf(named)} would not be evaluated: named like a GraphQL endpoint, but not in \`graphql.paths\``,
    "list it in `graphql.paths`; if no GraphQL server answers there, refuse operations with `not exists(request.body.query)`",
  );
};

function namesOf(rules: readonly PathRuleSource[]): string {
  const named = rules
    .slice(0, MAX_NAMED)
    .map(({ section, pattern: { method, text } }) => (section === "policies" ? `${method} ${text}` : text));
  const more = rules.length - named.length;
  return `${inBackticks(named)}${more > 0 ? ` (and ${String(more)} more)` : ""}`;
}

function isNamedLikeEndpoint({ pattern: { segments } }: PathRuleSource): boolean {
  const last = segments.at(-1);
  return last?.kind === "literal" && USUAL_NAMES.has(foldCase(last.value));
}

/** Whether everything below the endpoint, in any letter case, includes all paths of the rule. */
function covers(endpoint: readonly SegmentIR[], { pattern: { segments } }: PathRuleSource): boolean {
  return endpoint.every((own, index) => {
    const segment = segments[index];
    if (segment === undefined || segment.kind === "rest") return false;
    if (own.kind !== "literal") return true;
    return segment.kind === "literal" && foldCase(segment.value) === foldCase(own.value);
  });
}

function permitsUnreadPost({ pattern: { method }, condition }: PathRuleSource, effort: Effort): boolean {
  if (method !== "*" && method !== "POST") return false;
  const { expression, reads } = compileCondition(condition.ast, condition.text);
  if (reads.some(([root, member]) => root === "request" && member === "body")) return false;
  return findAttributes([{ expression, verdicts: TRUE }], textDomains("POST"), effort).kind !== "none";
}
