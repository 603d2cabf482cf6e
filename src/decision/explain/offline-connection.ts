import { MESSAGE } from "../../envoy-contract.ts";
import {
  explain,
  paramsOf,
  UNAVAILABLE,
  type Attributes,
  type PlannedField,
  type ValueObject,
  type WebsocketMessageIR,
  type WebsocketPlanIR,
} from "../../policy/evaluation.ts";
import { maskDocument } from "../../policy/mask/index.ts";
import { evaluateMessage, readMessage } from "../../policy/message/index.ts";
import { environmentAttributes } from "../attributes/attributes.ts";
import { openOperations, type OperationDesk } from "./explain-operations.ts";
import { partsOfTrace } from "../../policy/suite/index.ts";
import { eachOnce, readingsOf } from "./explain-readings.ts";
import {
  explainField,
  fieldsOf,
  fieldsOfAll,
  evaluateFields,
  verdictsOf,
  type EvaluatedField,
  type Sample,
} from "./explain-responses.ts";
import { gather, type EvaluationContext } from "../decide/evaluation-context.ts";
import type { OfflineDecision } from "./offline.ts";
import { GraphqlConversation } from "./offline-graphql-socket.ts";
import {
  mostValues,
  type ExplainedMessage,
  type Direction,
  type ExplainedMessageVerdict,
} from "./message-verdict.ts";
import { planMessages } from "../decide/plan.ts";
import { ruleReference } from "../policies/rule-reference.ts";

/** A permitted connection, which evaluates messages. */
export interface OfflineConnection {
  /** Messages are evaluated in order: an outcome may depend on earlier messages. */
  message(direction: Direction, text: string): ExplainedMessage;
}

/** @returns the connection; `undefined` if the decision does not open one */
export async function openConnection(offline: OfflineDecision): Promise<OfflineConnection | undefined> {
  const { decision, evaluation } = offline;
  const plan = decision.plan?.websocket;
  if (plan === undefined || evaluation === undefined) return undefined;
  const env = environmentAttributes(evaluation.access.receivedAt, plan.environment);
  const readings = readingsOf(offline);
  const everywhere = plan.fields === undefined ? [] : await evaluateFields(readings);
  if (plan.graphql !== undefined) {
    const desk = await openFirst(readings);
    if (desk === undefined) return undefined;
    const conversation = new GraphqlConversation(desk, env, evaluation.request.headers);
    return new Connection((direction, text) => conversation.message(direction, text), everywhere);
  }
  const lists: Listed[] = [];
  for (const { snapshot, request, ...reading } of readings) {
    const found = snapshot.connections.match(request.method, request.segments);
    if (found.kind !== "rule") continue;
    const { rule, messageNeeds } = found.rule;
    const params = paramsOf(found.rule, request.segments);
    const gathered = await gather({ ...reading, snapshot, request }, messageNeeds, params);
    if (!gathered.ok) return undefined;
    lists.push({ messages: rule.messages, attributes: gathered.attributes });
  }
  return new Connection(listed(plan, lists, env), everywhere);
}

/** Operations are evaluated in at most one reading, because two such plans cannot be joined. */
async function openFirst(readings: readonly EvaluationContext[]): Promise<OperationDesk | undefined> {
  for (const reading of readings) {
    const desk = await openOperations(reading);
    if (desk !== undefined) return desk;
  }
  return undefined;
}

/** The rules for messages in one reading of the handshake, and what their conditions read. */
interface Listed {
  readonly messages: readonly WebsocketMessageIR[];
  readonly attributes: Attributes;
}

type MessageEvaluator = (direction: Direction, text: string) => ExplainedMessageVerdict;

class Connection implements OfflineConnection {
  readonly #evaluate: MessageEvaluator;
  readonly #everywhere: readonly EvaluatedField[];
  #closed = false;

  /** @param everywhere - fields of response rules, which apply to every message from the server */
  constructor(evaluate: MessageEvaluator, everywhere: readonly EvaluatedField[]) {
    this.#evaluate = evaluate;
    this.#everywhere = everywhere;
  }

  message(direction: Direction, text: string): ExplainedMessage {
    if (this.#closed) return { direction, code: "CLOSED", fields: [], evaluated: [] };
    const { permit, close, fields, evaluated, ...why } = this.#evaluate(direction, text);
    this.#closed = close;
    if (!permit) return { direction, ...why, fields: [], evaluated };
    const applied = direction === "receive" ? [...fields, ...this.#everywhere] : [];
    const sample: Sample = { text, response: NO_RESPONSE };
    const masked = masking(
      sample,
      applied.flatMap(({ planned }) => planned ?? []),
    );
    return {
      direction,
      ...(masked === undefined ? {} : { delivered: masked }),
      ...why,
      ...(masked === undefined && { code: MESSAGE.UNREADABLE }),
      fields: applied.map((field) => explainField(field, sample)),
      evaluated: [...evaluated, ...verdictsOf(applied, sample)],
    };
  }
}

/** A message is not a response: it has no status and no headers. */
const NO_RESPONSE: Sample["response"] = {};

function masking({ text, response }: Sample, fields: readonly PlannedField[]): string | undefined {
  if (fields.length === 0) return text;
  const outcome = maskDocument(text, { fields }, response);
  return outcome.ok ? outcome.text : undefined;
}

/** Evaluates messages by type: the plan decides the outcome, and the rules of each reading explain it. */
function listed(plan: WebsocketPlanIR, lists: readonly Listed[], env: ValueObject): MessageEvaluator {
  const planned = lists.map((list) => ({
    ...list,
    send: planMessages(list.messages, "send", list.attributes),
    receive: planMessages(list.messages, "receive", list.attributes),
  }));
  return (direction, text) => {
    const rules = plan[direction];
    if (rules === undefined)
      return { permit: true, close: false, code: "NOT_LISTED", fields: [], evaluated: [] };
    const context = { env, values: mostValues(direction) };
    const { permit, rule, onDeny, code } = evaluateMessage(rules, text, context);
    const outcome = { permit, close: !permit && onDeny === "close", code };
    // a type missing from one of the lists has no rule to name
    if (rule === undefined) return { ...outcome, fields: [], evaluated: [] };
    const message = readMessage(text, context.values) ?? UNAVAILABLE;
    const asked = planned.flatMap(({ messages, attributes, [direction]: own }) => {
      const verdict = own && evaluateMessage(own, text, context);
      const ir = messages.find(({ id }) => id === verdict?.rule);
      if (ir === undefined) return [];
      const condition = explain(ir.condition.expression, { ...attributes, message, env });
      return [{ ir, code: verdict?.code, condition, fields: fieldsOf(ir, ruleReference(ir), attributes) }];
    });
    const why = asked.find((one) => one.code === code) ?? asked.find(({ ir }) => ir.id === rule);
    return {
      ...outcome,
      ...(why && { rule: ruleReference(why.ir), condition: why.condition }),
      fields: fieldsOfAll(asked.map(({ fields }) => fields)),
      evaluated: eachOnce(
        asked.map(({ ir, condition }) => [
          { rule: ir.id, verdict: condition.verdict, parts: partsOfTrace(condition) },
        ]),
        ({ rule, verdict }) => [rule, verdict],
      ),
    };
  };
}
