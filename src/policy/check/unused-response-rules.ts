import { quoted } from "../../text/index.ts";
import { areMethodsShared, RulesByPath } from "../analyze/index.ts";
import { foldCase } from "../match/fold.ts";
import { parsePattern } from "../pattern/parse-pattern.ts";
import { GRAPHQL_DEFAULTS, type PolicySetSource } from "../read/index.ts";
import type { SegmentIR } from "../ir.ts";
import { placeOf } from "../syntax/place-of.ts";
import type { PolicySetCheck } from "./policy-set-check.ts";

/**
 * A response rule that applies to no request that the set permits: its path or method is probably misspelled, and the
 * values that it is for are not masked.
 */
export const unusedResponseRules: PolicySetCheck = (set, report) => {
  if (set.head.default === "allow" || set.responses.length === 0) return;
  const permitted = new RulesByPath(placesOf(set));
  for (const { pattern } of set.responses) {
    const { method, segments } = pattern;
    const isUsed = [...permitted.overlapping(segments), ...withFormat(segments, permitted)].some((place) =>
      areMethodsShared(place.method, method),
    );
    if (isUsed) continue;
    report.warning(
      placeOf(pattern.node),
      "unused-response-rule",
      `no rule permits a request that ${quoted(`${pattern.method} ${pattern.text}`)} matches, so nothing is masked here`,
    );
  }
};

interface Place {
  readonly method: string;
  readonly segments: readonly SegmentIR[];
}

/** Where requests may be permitted: by a path rule, at a GraphQL endpoint, or as a connection. */
function placesOf({ rules, head, graphql, connections }: PolicySetSource): Place[] {
  const { paths } = head.graphql?.settings ?? GRAPHQL_DEFAULTS;
  const endpoints = graphql.length === 0 && head.graphql === undefined ? [] : paths;
  return [
    ...rules.map(({ pattern }) => pattern),
    ...endpoints.map((path) => ({
      method: "*",
      segments: [...parsePattern(path, "none").segments, { kind: "rest" } as const],
    })),
    ...connections.map(({ pattern }) => ({ method: "GET", segments: pattern.segments })),
  ];
}

/** @returns places such as `/export.json`, where a rule for `/export` applies, too */
function withFormat(segments: readonly SegmentIR[], permitted: RulesByPath<Place>): readonly Place[] {
  const last = segments.at(-1);
  if (last?.kind !== "literal") return [];
  const start = foldCase(`${last.value}.x`).slice(0, -1);
  return permitted.overlapping([...segments.slice(0, -1), { kind: "any" }]).filter((place) => {
    const segment = place.segments[segments.length - 1];
    return segment?.kind === "literal" && foldCase(segment.value).startsWith(start);
  });
}
