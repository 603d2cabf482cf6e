import { graphqlErrors, refuseOperationIn } from "../../graphql/index.ts";
import {
  IR_VERSION,
  paramsOf,
  type PlanIR,
  type PlannedField,
  type WebsocketPlanIR,
} from "../../policy/evaluation.ts";
import type { CanonicalRequest } from "../../request/index.ts";
import {
  allow,
  byDefault,
  deny,
  fromVerdict,
  gather,
  verdictOf,
  type BarePermit,
  type EvaluationContext,
} from "./evaluation-context.ts";
import { planOperations } from "./evaluate-graphql.ts";
import { evaluateResponses } from "./evaluate-responses.ts";
import { planMessages } from "./plan.ts";
import { SUBPROTOCOL } from "../../envoy-contract.ts";
import type { GraphqlEndpoint } from "../policies/graphql-endpoints.ts";
import type { PreparedConnection, Snapshot } from "../policies/snapshot.ts";
import type { Decision, Denial } from "../types.ts";
import { andThen, type PromiseOrValue } from "../promise-or-value.ts";

/** RFC 6455, section 4.1: a request that Envoy treats as a WebSocket handshake and then forwards as raw bytes. */
export function isWebsocketUpgrade({ method, headers }: CanonicalRequest): boolean {
  const upgrade = headers["upgrade"] ?? [];
  const connection = (headers["connection"] ?? []).flatMap((value) => value.toLowerCase().split(","));
  return (
    method === "GET" &&
    upgrade.some((value) => value.toLowerCase() === "websocket") &&
    connection.some((option) => option.trim() === "upgrade")
  );
}

/** Whether a handshake asks for a GraphQL subprotocol, and the set has rules for operations. */
export function isGraphqlHandshake({ graphql }: Snapshot, request: CanonicalRequest): boolean {
  return graphql.rules.length > 0 && asksForGraphql(request);
}

/** Whether a handshake asks for a GraphQL subprotocol. */
export function asksForGraphql({ headers }: CanonicalRequest): boolean {
  return (headers["sec-websocket-protocol"] ?? [])
    .flatMap((value) => value.toLowerCase().split(","))
    .some((protocol) => GRAPHQL_PROTOCOLS.has(protocol.trim()));
}

const GRAPHQL_PROTOCOLS: ReadonlySet<string> = new Set(Object.values(SUBPROTOCOL));

/**
 * Evaluates a WebSocket handshake and plans what may pass on the connection.
 *
 * @param path - the result of the path rules; no rule is required, and a matching one has permitted
 * @param endpoint - present if the path is a GraphQL endpoint. Elsewhere, a connection that speaks GraphQL has its
 *   operations evaluated as well, unless there are rules for its messages: servers such as `new WebSocketServer({
 *   server })` accept it on any path
 */
export function evaluateUpgrade(
  evaluation: EvaluationContext,
  path: BarePermit | undefined,
  endpoint: GraphqlEndpoint | undefined,
): PromiseOrValue<Decision> {
  // RFC 9110, section 7.8: HTTP/1.0 has no upgrades
  if (evaluation.request.protocol === "HTTP/1.0") return deny(evaluation.draft, "UPGRADE_REQUIRED");
  const own = endpoint?.as === undefined ? endpoint?.params : undefined;
  const refused = own && carriesOperation(evaluation);
  if (refused) return refused;
  const connection = evaluateConnection(evaluation, path, own !== undefined);
  return andThen(connection, ({ decision, entry }) => {
    if (decision.verdict === "DENY") return decision;
    const unruled = (entry?.rule.messages.length ?? 0) === 0;
    const elsewhere =
      endpoint === undefined && unruled && isGraphqlHandshake(evaluation.snapshot, evaluation.request);
    const carried = elsewhere ? carriesOperation(evaluation) : undefined;
    if (carried) return carried;
    const params = elsewhere ? {} : own;
    return andThen(evaluateResponses(evaluation), (responses) => {
      if (!responses.ok) return responses.denial;
      const { fields } = responses;
      // a response without an upgrade: no operations were evaluated for it, and it would not be masked
      const plain = path !== undefined && params === undefined && fields.length === 0;
      const part = params ? planSocket(evaluation, params, fields) : planEntry(evaluation, entry);
      return andThen(part, (planned) =>
        planned.ok ? { ...decision, plan: plan(evaluation, planned, fields, plain) } : planned.denial,
      );
    });
  });
}

/** Whether a handshake with this method and path would be decided by rules for connections. */
export function mayBeHandshake({ snapshot, request }: EvaluationContext): boolean {
  return (
    request.method === "GET" && snapshot.connections.match(request.method, request.segments).kind !== "none"
  );
}

/** @returns why the handshake must be refused; `undefined` if it carries no operation */
function carriesOperation({ request, draft }: EvaluationContext): Denial | undefined {
  const refused = refuseOperationIn(request);
  if (refused === undefined) return undefined;
  return { ...deny(draft, refused.code, refused.message), graphqlErrors: graphqlErrors([refused]) };
}

interface EvaluatedConnection {
  readonly decision: BarePermit | Denial;
  readonly entry?: PreparedConnection;
}

function evaluateConnection(
  evaluation: EvaluationContext,
  path: BarePermit | undefined,
  endpoint: boolean,
): PromiseOrValue<EvaluatedConnection> {
  const { snapshot, request, draft, caller } = evaluation;
  // without websocket_policies it is an ordinary path; a GraphQL endpoint needs no path rule
  if (snapshot.connections.rules.length === 0) {
    const otherwise = endpoint ? allow(draft, "GRAPHQL_CONNECTION") : byDefault(evaluation);
    return { decision: path ?? otherwise };
  }
  const match = snapshot.connections.match(request.method, request.segments);
  if (match.kind === "case") return { decision: deny(draft, "AMBIGUOUS_CASE") };
  if (match.kind === "none") return { decision: byDefault(evaluation) };
  const { rule: entry, params } = match;
  const evaluated = { ...draft, connection: entry.rule };
  return andThen(gather({ ...evaluation, draft: evaluated }, entry.needs, params), (gathered) => {
    if (!gathered.ok) return { decision: gathered.denial };
    const verdict = verdictOf(evaluation, entry.rule.condition, entry.needs, gathered.attributes);
    const accepted = [...evaluated.accepted, ...gathered.accepted];
    const decided = { ...evaluated, accepted, attributes: gathered.attributes };
    return { decision: fromVerdict(decided, entry.needs, caller, verdict), entry };
  });
}

interface Part {
  readonly ok: true;
  readonly rules: Pick<WebsocketPlanIR, "send" | "receive" | "graphql">;
}
type Planned = Part | { readonly ok: false; readonly denial: Denial };

function planSocket(
  evaluation: EvaluationContext,
  params: GraphqlEndpoint["params"],
  fields: readonly PlannedField[],
): PromiseOrValue<Planned> {
  return andThen(planOperations(evaluation, params, fields), (planned) =>
    planned.ok ? { ok: true, rules: { graphql: planned.graphql } } : planned,
  );
}

function planEntry(
  evaluation: EvaluationContext,
  entry: PreparedConnection | undefined,
): PromiseOrValue<Planned> {
  if (entry === undefined || entry.rule.messages.length === 0) return { ok: true, rules: {} };
  const params = paramsOf(entry, evaluation.request.segments);
  return andThen(gather(evaluation, entry.messageNeeds, params), (gathered): Planned => {
    if (!gathered.ok) return gathered;
    const decide = evaluation.with.recorded?.specialize;
    const send = planMessages(entry.rule.messages, "send", gathered.attributes, decide);
    const receive = planMessages(entry.rule.messages, "receive", gathered.attributes, decide);
    return { ok: true, rules: { ...(send && { send }), ...(receive && { receive }) } };
  });
}

function plan(
  { with: { limits, environment } }: EvaluationContext,
  { rules }: Part,
  fields: readonly PlannedField[],
  plain: boolean,
): PlanIR {
  return {
    ir: IR_VERSION,
    websocket: { limit: limits.message, environment, plain, ...rules, ...(fields.length > 0 && { fields }) },
  };
}
