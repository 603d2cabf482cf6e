import {
  createMatcher,
  paramsOf,
  parsePattern,
  type Matcher,
  type PolicySetIR,
  type SegmentIR,
} from "../../policy/index.ts";
import { encodePath, type CanonicalRequest } from "../../request/index.ts";

/** A place that requests for GraphQL operations may be sent to, as the matcher takes it: for every method. */
export interface PreparedEndpoint {
  readonly section: "policies";
  readonly method: "*";
  readonly segments: readonly SegmentIR[];
  /** `below` an endpoint, servers that are mounted there answer as well; `other` is what the set says is no endpoint. */
  readonly kind: "endpoint" | "below" | "other";
}

/** What the path of a GraphQL endpoint says about a request. */
export interface GraphqlEndpoint {
  readonly params: Readonly<Record<string, string>>;
  /**
   * Absent where the path is the endpoint's as the set writes it. Elsewhere a server that is mounted at the endpoint may
   * answer, or something else: the request is judged by the rules for its own path, and as this one to the endpoint.
   */
  readonly as?: Pick<CanonicalRequest, "segments" | "path">;
}

export interface GraphqlEndpoints {
  readonly matcher: Matcher<PreparedEndpoint>;
  /** @returns `"case"` where only the letter case differs, in a set for which letter case must not differ */
  at(request: Pick<CanonicalRequest, "method" | "segments">): GraphqlEndpoint | "case" | undefined;
}

/**
 * An endpoint takes everything below its path: `app.use("/graphql", ...)` of Express mounts a server there, and in any
 * letter case.
 */
export function graphqlEndpoints(
  { graphql }: PolicySetIR,
  { caseSensitive }: { readonly caseSensitive: boolean },
): GraphqlEndpoints {
  const { paths, otherPaths = [] } = graphql.settings;
  const rules =
    graphql.rules.length === 0
      ? []
      : [
          ...paths
            .map(segmentsOf)
            .flatMap((own) => [place(own, "endpoint"), place([...own, { kind: "rest" }], "below")]),
          ...otherPaths.map((path) => place(segmentsOf(path), "other")),
        ];
  // whatever the set says about letter case: the server decides which spellings it answers
  const matcher = createMatcher({ rules });
  return {
    matcher,
    at({ method, segments }) {
      const match = matcher.match(method, segments);
      switch (match.kind) {
        case "none":
          return undefined;
        case "case":
          if (!caseSensitive) return "case";
          return match.rule.kind === "other" ? undefined : elsewhere(match.rule, segments);
        case "rule":
          if (match.rule.kind === "other") return undefined;
          return match.rule.kind === "below" ? elsewhere(match.rule, segments) : { params: match.params };
      }
    },
  };
}

/** A path below an endpoint, or in another letter case, as the endpoint. */
function elsewhere(rule: PreparedEndpoint, sent: readonly string[]): GraphqlEndpoint {
  const own = rule.segments.filter(({ kind }) => kind !== "rest");
  const segments = own.map((segment, index) =>
    segment.kind === "literal" ? segment.value : (sent[index] ?? ""),
  );
  return { params: paramsOf(rule, segments), as: { segments, path: encodePath(segments, false) } };
}

function segmentsOf(path: string): readonly SegmentIR[] {
  return parsePattern(path, "rest").segments;
}

function place(segments: readonly SegmentIR[], kind: PreparedEndpoint["kind"]): PreparedEndpoint {
  return { section: "policies", method: "*", segments, kind };
}
