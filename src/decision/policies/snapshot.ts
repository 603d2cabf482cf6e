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
} from "../../policy/evaluation.ts";
import { createCors, type Cors } from "../headers/cors-headers.ts";
import { graphqlEndpoints, type GraphqlEndpoints } from "./graphql-endpoints.ts";
import { lookedUp, needsOf, type RuleNeeds } from "./needs.ts";

/** One policy set, prepared for decisions. Immutable: a request takes it once and uses it until the end. */
export interface Snapshot {
  readonly ir: PolicySetIR;
  /** `name@version`, as in audit records. */
  readonly label: string;
  /** sha256 of the set's canonical content, hex. */
  readonly digest: string;
  readonly matcher: Matcher;
  readonly needs: ReadonlyMap<PathRuleIR, RuleNeeds>;
  /** Response rules. All that match apply. */
  readonly responses: RuleIndex<PreparedResponse>;
  /** Rules for WebSocket connections: the most specific entry applies, with its messages. */
  readonly connections: Matcher<PreparedConnection>;
  /** None if the set has no GraphQL policies. */
  readonly endpoints: GraphqlEndpoints;
  readonly graphql: PreparedGraphql;
  /** Absent if the set has no `cors`. */
  readonly cors?: Cors;
}

export interface PreparedResponse {
  readonly method: string;
  readonly segments: readonly SegmentIR[];
  readonly rule: ResponseRuleIR;
  readonly needs: RuleNeeds;
}

/** In the matcher's form: for every method. */
interface ConnectionPattern {
  readonly section: "policies";
  readonly method: "*";
  readonly segments: readonly SegmentIR[];
}

export interface PreparedConnection extends ConnectionPattern {
  readonly rule: WebsocketConnectionIR;
  readonly needs: RuleNeeds;
  /** The needs of all its messages and their fields together. */
  readonly messageNeeds: RuleNeeds;
}

export interface PreparedGraphql {
  /** The rules, each with the roots of its condition that are known only with the operation or its payload. */
  readonly rules: readonly { readonly rule: GraphqlRuleIR; readonly late: ReadonlySet<string> }[];
  /** The needs of all rules together. */
  readonly needs: RuleNeeds;
}

/** @returns sha256 (hex) over the set's meaning, without comments, layout and positions in files */
export function digestOf(ir: PolicySetIR): string {
  return createHash("sha256").update(canonicalContent(ir)).digest("hex");
}

/**
 * Creates a snapshot of a compiled policy set.
 *
 * @param options.caseSensitive - treats paths that differ only in letter case as different
 * @param options.digest - of the set, if already known
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
    ...(ir.cors && { cors: createCors(ir.cors) }),
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

/** Roots that the request provides. */
const REQUEST_ROOTS = ["user", "customer", "path", "request"];

/** `args`, `env`, and the roots named after a subscription's payload. */
function lateRoots({ condition }: GraphqlRuleIR, ir: PolicySetIR): ReadonlySet<string> {
  const roots = condition.reads.map(([root = ""]) => root);
  return new Set(roots.filter((root) => !REQUEST_ROOTS.includes(root) && lookedUp(ir, root) === undefined));
}
