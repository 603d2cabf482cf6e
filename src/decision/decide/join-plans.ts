import type {
  Expression,
  GraphqlErrorIR,
  PlanIR,
  PlannedMessage,
  ResponsePlanIR,
  WebsocketPlanIR,
} from "../../policy/index.ts";

type Messages = Readonly<Record<string, PlannedMessage>>;

/**
 * Joins the plans of two policy sets for one response or connection: what either masks is masked, and what passes must
 * be permitted by both.
 *
 * @returns `undefined` if one plan cannot express both, because both have rules for the operations of a GraphQL
 *   connection
 */
export function joinPlans(a: PlanIR | undefined, b: PlanIR | undefined): PlanIR | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  const response = joinResponses(a.response, b.response);
  const preflight = a.preflight ?? b.preflight;
  const joined = { ir: a.ir, ...(response && { response }), ...(preflight && { preflight }) };
  if (a.websocket === undefined || b.websocket === undefined) {
    const websocket = a.websocket ?? b.websocket;
    return { ...joined, ...(websocket && { websocket }) };
  }
  const websocket = joinSockets(a.websocket, b.websocket);
  return websocket && { ...joined, websocket };
}

function joinResponses(
  a: ResponsePlanIR | undefined,
  b: ResponsePlanIR | undefined,
): ResponsePlanIR | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  const errors: readonly GraphqlErrorIR[] = [...(a.errors ?? []), ...(b.errors ?? [])];
  const events = joinEvents(a.events, b.events);
  const bothPass = a.otherTypes === "pass" && b.otherTypes === "pass";
  return {
    limit: Math.min(a.limit, b.limit),
    fields: [...a.fields, ...b.fields],
    ...((a.graphql ?? b.graphql) && { graphql: true }),
    ...(bothPass && { otherTypes: "pass" }),
    ...(errors.length > 0 && { errors }),
    ...(events && { events }),
  };
}

function joinEvents(a: ResponsePlanIR["events"], b: ResponsePlanIR["events"]): ResponsePlanIR["events"] {
  if (a === undefined || b === undefined) return a ?? b;
  return { environment: a.environment, conditions: [...a.conditions, ...b.conditions] };
}

function joinSockets(a: WebsocketPlanIR, b: WebsocketPlanIR): WebsocketPlanIR | undefined {
  const operations = a.graphql ?? b.graphql;
  // each set's rules refer to its own schema and limits; if both list message types, there are no operations to
  // evaluate
  if (operations !== undefined && [a, b].some((plan) => plan.graphql !== operations && readsMessages(plan)))
    return undefined;
  const send = joinMessages(a.send, b.send);
  const receive = joinMessages(a.receive, b.receive);
  const fields = [...(a.fields ?? []), ...(b.fields ?? [])];
  return {
    environment: a.environment,
    plain: a.plain && b.plain,
    limit: Math.min(a.limit, b.limit),
    ...(send && { send }),
    ...(receive && { receive }),
    ...(fields.length > 0 && { fields }),
    ...(operations && { graphql: operations }),
  };
}

function readsMessages({ send, receive, graphql }: WebsocketPlanIR): boolean {
  return send !== undefined || receive !== undefined || graphql !== undefined;
}

/** A type missing from one of the two lists is denied by that list. */
function joinMessages(a: Messages | undefined, b: Messages | undefined): Messages | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return Object.fromEntries(
    Object.entries(a).flatMap(([type, one]) => {
      const other = Object.hasOwn(b, type) ? b[type] : undefined;
      return other === undefined ? [] : [[type, joinMessage(one, other)]];
    }),
  );
}

function joinMessage(a: PlannedMessage, b: PlannedMessage): PlannedMessage {
  const when = both(a.when, b.when);
  const fields = [...(a.fields ?? []), ...(b.fields ?? [])];
  return {
    rule: whatDenies(a, b),
    ...(when !== undefined && { when }),
    onDeny: a.onDeny === "close" || b.onDeny === "close" ? "close" : "drop",
    ...(fields.length > 0 && { fields }),
  };
}

/** Rules of one message that are named; a customer may have many sets. */
const MOST_NAMED = 3;

/** The rule that denies the message where one does; both where it is known only with the message. */
function whatDenies(a: PlannedMessage, b: PlannedMessage): string {
  if (a.when === false || b.when === undefined) return a.rule;
  if (b.when === false || a.when === undefined) return b.rule;
  // two readings of a request are often joined under the same rules
  const rules = [...new Set([a, b].flatMap(({ rule }) => rule.split(", ")))];
  return rules.length > MOST_NAMED ? `${rules.slice(0, MOST_NAMED).join(", ")}, ...` : rules.join(", ");
}

function both(
  a: Expression | false | undefined,
  b: Expression | false | undefined,
): Expression | false | undefined {
  if (a === false || b === false) return false;
  if (a === undefined || b === undefined) return a ?? b;
  return { op: "and", args: [a, b] };
}
