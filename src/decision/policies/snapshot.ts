import { createHash } from "node:crypto";
import {
  canonicalContent,
  createMatcher,
  createRuleIndex,
  type GraphqlRuleIR,
  type Matcher,
  type PathRuleIR,
  type PolicySetIR,
  type ResponseFieldIR,
  type ResponseRuleIR,
  type RuleIndex,
  type SegmentIR,
  type WebsocketConnectionIR,
} from "../../policy/index.ts";
import { graphqlEndpoints, type GraphqlEndpoints } from "./graphql-endpoints.ts";
import { lookedUp, needsOf, type RuleNeeds } from "./needs.ts";

/** One policy set, ready to decide with. Immutable: a request takes it once and keeps it to its end. */
export interface Snapshot {
  readonly ir: PolicySetIR;
  /** `name@version`, as audit records name it. */
  readonly label: string;
  /** sha256 of the set's canonical content, hex. */
  readonly digest: string;
  readonly matcher: Matcher;
  readonly needs: ReadonlyMap<PathRuleIR, RuleNeeds>;
  /** Response rules, of which all apply that match. */
  readonly responses: RuleIndex<PreparedResponse>;
  /** Where WebSocket connections are evaluated: the most specific entry counts, with its messages. */
  readonly connections: Matcher<PreparedConnection>;
  /** None where the set has no GraphQL policies. */
  readonly endpoints: GraphqlEndpoints;
  readonly graphql: PreparedGraphql;
}

export interface PreparedResponse {
  readonly method: string;
  readonly segments: readonly SegmentIR[];
  readonly rule: ResponseRuleIR;
  readonly needs: RuleNeeds;
}

/** As the matcher takes it: for every method. */
interface ConnectionPattern {
  readonly section: "policies";
  readonly method: "*";
  readonly segments: readonly SegmentIR[];
}

export interface PreparedConnection extends ConnectionPattern {
  readonly rule: WebsocketConnectionIR;
  readonly needs: RuleNeeds;
  /** Of all its messages and their fields together. */
  readonly messageNeeds: RuleNeeds;
}

export interface PreparedGraphql {
  /** Each with the roots of its condition that are known only with the operation or with what it delivers. */
  readonly rules: readonly { readonly rule: GraphqlRuleIR; readonly late: ReadonlySet<string> }[];
  /** Of all rules together. */
  readonly needs: RuleNeeds;
}

/** @returns sha256 (hex) over the set's meaning: comments, layout and positions in files do not count. */
export function digestOf(ir: PolicySetIR): string {
  return createHash("sha256").update(canonicalContent(ir)).digest("hex");
}

/**
 * Makes a snapshot of a compiled set.
 *
 * @param options.caseSensitive - takes paths that differ only in letter case as different
 * @param options.digest - of the set, where it is known already
 */
export function createSnapshot(
  ir: PolicySetIR,
  options: { readonly caseSensitive: boolean; readonly digest?: string },
): Snapshot {
  const digest = options.digest ?? digestOf(ir);
  const of = (id: string) => ({ ir, digest, id });
  return {
    ir,
    label: `${ir.name}@${ir.version}`,
    digest,
    matcher: createMatcher(ir, options),
    needs: new Map(ir.rules.map((rule) => [rule, needsOf(rule.condition.reads, of(rule.id))])),
    responses: createRuleIndex(
      ir.responses.map((rule) => ({
        method: rule.method,
        segments: rule.segments,
        rule,
        needs: needsOf(fieldReads(rule.fields), of(rule.id)),
      })),
    ),
    connections: createMatcher(
      { rules: ir.websocket.connections.map((rule) => connection(rule, of)) },
      options,
    ),
    endpoints: graphqlEndpoints(ir, options),
    graphql: {
      rules: ir.graphql.rules.map((rule) => ({ rule, late: lateRoots(rule, ir) })),
      needs: needsOf(
        ir.graphql.rules.flatMap((rule) => rule.condition.reads),
        of("graphql_policies"),
      ),
    },
  };
}

function connection(
  rule: WebsocketConnectionIR,
  of: (id: string) => Parameters<typeof needsOf>[1],
): PreparedConnection {
  const reads = rule.messages.flatMap(({ condition, fields }) => [...condition.reads, ...fieldReads(fields)]);
  return {
    ...place(rule.segments),
    rule,
    needs: needsOf(rule.condition.reads, of(rule.id)),
    messageNeeds: needsOf(reads, of(`${rule.id}.messages`)),
  };
}

function place(segments: readonly SegmentIR[]): ConnectionPattern {
  return { section: "policies", method: "*", segments };
}

function fieldReads(fields: readonly ResponseFieldIR[]) {
  return fields.flatMap(({ condition }) => condition.reads);
}

/** Roots that the request fills. */
const REQUEST_ROOTS = ["user", "customer", "path", "request"];

/** `args`, `env`, and what a subscription names for what it delivers. */
function lateRoots({ condition }: GraphqlRuleIR, ir: PolicySetIR): ReadonlySet<string> {
  const roots = condition.reads.map(([root = ""]) => root);
  return new Set(roots.filter((root) => !REQUEST_ROOTS.includes(root) && lookedUp(ir, root) === undefined));
}
