import {
  createMatcher,
  paramsOf,
  parsePattern,
  type Matchable,
  type Matcher,
  type PolicySetIR,
  type SegmentIR,
} from "../../policy/evaluation.ts";
import { encodePath, type CanonicalRequest } from "../../request/index.ts";

/** A path to which requests for GraphQL operations may be sent, as the matcher takes it: for every method. */
export interface PreparedEndpoint extends Matchable {
  /** `below` an endpoint, servers that are mounted there answer as well. */
  readonly kind: "endpoint" | "below";
}

/** What a request's path tells about its GraphQL endpoint. */
export interface GraphqlEndpoint {
  readonly params: Readonly<Record<string, string>>;
  /**
   * Absent if the path is the endpoint's exactly as the set writes it. Otherwise a server mounted at the endpoint may
   * answer, or something else: the request is evaluated by the rules for its own path, and in this form by those of the
   * endpoint.
   */
  readonly as?: Pick<CanonicalRequest, "segments" | "path">;
}

export interface GraphqlEndpoints {
  readonly matcher: Matcher<PreparedEndpoint>;
  /** @returns `"case"` if only the letter case differs and the set ignores letter case */
  at(request: Pick<CanonicalRequest, "method" | "segments">): GraphqlEndpoint | "case" | undefined;
}

/**
 * An endpoint includes everything below its path, because Express's `app.use("/graphql", ...)` mounts a server there,
 * in any letter case. Paths that the set excludes are excluded only as the set spells them: a server may treat any other
 * spelling as the endpoint.
 */
export function graphqlEndpoints(
  { graphql }: PolicySetIR,
  { caseSensitive }: { readonly caseSensitive: boolean },
): GraphqlEndpoints {
  const { paths, otherPaths = [] } = graphql.settings;
  const guarded = graphql.rules.length > 0;
  // whatever the set says about letter case: the server decides which spellings it answers
  const matcher = createMatcher({ rules: guarded ? paths.flatMap(placesOf) : [] });
  const excluded = createMatcher(
    {
      rules: (guarded ? otherPaths : []).map(({ method, path }): Matchable => ({
        section: "policies",
        method,
        segments: segmentsOf(path),
      })),
    },
    { caseSensitive: true },
  );
  return {
    matcher,
    at({ method, segments }) {
      const match = matcher.match(method, segments);
      if (match.kind === "none" || excluded.match(method, segments).kind === "rule") return undefined;
      if (match.kind === "case") return caseSensitive ? elsewhere(match.rule, segments) : "case";
      return match.rule.kind === "below" ? elsewhere(match.rule, segments) : { params: match.params };
    },
  };
}

/** @returns the endpoint for a path below it, or in another letter case */
function elsewhere(rule: PreparedEndpoint, sent: readonly string[]): GraphqlEndpoint {
  const own = rule.segments.filter(({ kind }) => kind !== "rest");
  const segments = own.map((segment, index) =>
    segment.kind === "literal" ? segment.value : (sent[index] ?? ""),
  );
  return { params: paramsOf(rule, segments), as: { segments, path: encodePath(segments, false) } };
}

function placesOf(path: string): PreparedEndpoint[] {
  const segments = segmentsOf(path);
  const place = { section: "policies", method: "*" } as const;
  return [
    { ...place, segments, kind: "endpoint" },
    { ...place, segments: [...segments, { kind: "rest" }], kind: "below" },
  ];
}

function segmentsOf(path: string): readonly SegmentIR[] {
  return parsePattern(path, "rest").segments;
}
