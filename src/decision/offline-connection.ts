import {
  explain,
  paramsOf,
  UNAVAILABLE,
  type Attributes,
  type PlannedField,
  type ValueObject,
  type WebsocketMessageIR,
  type WebsocketPlanIR,
} from "../policy/index.ts";
import { maskDocument } from "../policy/mask/index.ts";
import { judgeMessage, readMessage } from "../policy/message/index.ts";
import { environmentAttributes } from "./attributes.ts";
import { openOperations } from "./explain-operations.ts";
import {
  explainField,
  fieldsOf,
  judgeFields,
  verdictsOf,
  type JudgedField,
  type Sample,
} from "./explain-responses.ts";
import { gather } from "./judgement.ts";
import type { OfflineDecision } from "./offline.ts";
import { GraphqlConversation } from "./offline-graphql-socket.ts";
import { mostValues, type Delivery, type Direction, type Passage } from "./passage.ts";
import { refer } from "./refer.ts";

/** A connection that was permitted, and what passes on it. */
export interface OfflineConnection {
  /** Messages come one after the other: what they are judged by may depend on those before. */
  message(direction: Direction, text: string): Delivery;
}

/** @returns the connection; `undefined` where the decision opens none */
export async function openConnection({
  decision,
  judgement,
}: OfflineDecision): Promise<OfflineConnection | undefined> {
  const plan = decision.plan?.websocket;
  if (plan === undefined || judgement === undefined) return undefined;
  const env = environmentAttributes(judgement.access.receivedAt, plan.environment);
  const everywhere = plan.fields === undefined ? [] : await judgeFields([judgement]);
  if (plan.graphql !== undefined) {
    const desk = await openOperations(judgement);
    if (desk === undefined) return undefined;
    const conversation = new GraphqlConversation(desk, env, judgement.request.headers);
    return new Connection((direction, text) => conversation.message(direction, text), everywhere);
  }
  const { snapshot, request } = judgement;
  const found = snapshot.connections.match(request.method, request.segments);
  if (found.kind !== "rule") return new Connection(listed(plan, [], {}, env), everywhere);
  const gathered = await gather(judgement, found.rule.messageNeeds, paramsOf(found.rule, request.segments));
  if (!gathered.ok) return undefined;
  return new Connection(listed(plan, found.rule.messages, gathered.attributes, env), everywhere);
}

type Judge = (direction: Direction, text: string) => Passage;

class Connection implements OfflineConnection {
  readonly #judge: Judge;
  readonly #everywhere: readonly JudgedField[];
  #closed = false;

  /** @param everywhere - fields of response rules, which hold in every message from the server */
  constructor(judge: Judge, everywhere: readonly JudgedField[]) {
    this.#judge = judge;
    this.#everywhere = everywhere;
  }

  message(direction: Direction, text: string): Delivery {
    if (this.#closed) return { direction, code: "CLOSED", fields: [], judged: [] };
    const { permit, close, fields, judged, ...why } = this.#judge(direction, text);
    this.#closed = close;
    if (!permit) return { direction, ...why, fields: [], judged };
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
      ...(masked === undefined && { code: "UNREADABLE" }),
      fields: applied.map((field) => explainField(field, sample)),
      judged: [...judged, ...verdictsOf(applied, sample)],
    };
  }
}

/** A message is no answer: it has no status and no headers. */
const NO_RESPONSE: Sample["response"] = {};

function masking({ text, response }: Sample, fields: readonly PlannedField[]): string | undefined {
  if (fields.length === 0) return text;
  const outcome = maskDocument(text, { fields }, response);
  return outcome.ok ? outcome.text : undefined;
}

/** Judges messages by their types. */
function listed(
  plan: WebsocketPlanIR,
  messages: readonly WebsocketMessageIR[],
  attributes: Attributes,
  env: ValueObject,
): Judge {
  const byId = new Map(messages.map((message) => [message.id, message]));
  return (direction, text) => {
    const rules = plan[direction];
    if (rules === undefined)
      return { permit: true, close: false, code: "NOT_LISTED", fields: [], judged: [] };
    const {
      permit,
      rule: id,
      onDeny,
      code,
    } = judgeMessage(rules, text, { env, values: mostValues(direction) });
    const ir = byId.get(id ?? "");
    if (ir === undefined) return { permit, close: onDeny === "close", code, fields: [], judged: [] };
    const message = readMessage(text, mostValues(direction)) ?? UNAVAILABLE;
    const condition = explain(ir.condition.expression, { ...attributes, message, env });
    return {
      permit,
      close: !permit && onDeny === "close",
      code,
      rule: refer(ir),
      condition,
      fields: fieldsOf(ir, refer(ir), attributes),
      judged: [{ rule: ir.id, verdict: condition.verdict }],
    };
  };
}
