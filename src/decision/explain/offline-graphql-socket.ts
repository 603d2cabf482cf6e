import { MESSAGE, SUBPROTOCOL } from "../../envoy-contract.ts";
import {
  GRAPHQL,
  GraphqlRefusal,
  evaluateEvent,
  isCompleteResult,
  readJson,
  readPayload,
  type GraphqlEvent,
  type InputValue,
} from "../../graphql/index.ts";
import { isObject } from "../../json/index.ts";
import {
  explain,
  UNAVAILABLE,
  type Attributes,
  type Expression,
  type ValueObject,
} from "../../policy/evaluation.ts";
import { partsOfTrace, type EvaluatedCondition } from "../../policy/suite/index.ts";
import { explainOperations, verdictsOfRules, type OperationDesk } from "./explain-operations.ts";
import { mostValues, type Direction, type ExplainedMessageVerdict } from "./message-verdict.ts";
import { ruleReference } from "../policies/rule-reference.ts";

type Effect = "pass" | "start" | "stop" | "result" | "finish";

type Effects = Readonly<Record<Direction, Readonly<Record<string, Effect>>>>;

/** The effect of messages, by type. Equivalent to envoy/lua/gatehouse/graphql_socket.lua in Envoy. */
const PROTOCOLS = {
  [SUBPROTOCOL.current]: {
    send: { connection_init: "pass", ping: "pass", pong: "pass", subscribe: "start", complete: "stop" },
    receive: {
      ...{ connection_ack: "pass", ping: "pass", pong: "pass" },
      ...{ next: "result", error: "finish", complete: "finish" },
    },
  },
  [SUBPROTOCOL.older]: {
    send: { connection_init: "pass", connection_terminate: "pass", start: "start", stop: "stop" },
    receive: {
      ...{ connection_ack: "pass", connection_error: "pass", ka: "pass" },
      ...{ data: "result", error: "finish", complete: "finish" },
    },
  },
} satisfies Record<string, Effects>;

function isProtocol(name: string): name is keyof typeof PROTOCOLS {
  return Object.hasOwn(PROTOCOLS, name);
}

const DENIED: ExplainedMessageVerdict = {
  permit: false,
  close: false,
  code: MESSAGE.UNREADABLE,
  fields: [],
  evaluated: [],
};
const CLOSED: ExplainedMessageVerdict = { ...DENIED, close: true };
const PASSED: ExplainedMessageVerdict = { ...DENIED, permit: true, code: MESSAGE.PERMITTED };

/** Operations and their events on one connection. */
export class GraphqlConversation {
  readonly #desk: OperationDesk;
  readonly #env: ValueObject;
  readonly #effects: Effects;
  readonly #running = new Map<string, readonly GraphqlEvent[]>();

  /** @param headers - of the handshake; the first known protocol is assumed to be the server's choice */
  constructor(desk: OperationDesk, env: ValueObject, headers: Readonly<Record<string, readonly string[]>>) {
    this.#desk = desk;
    this.#env = env;
    const offered = (headers["sec-websocket-protocol"] ?? []).flatMap((value) => value.split(","));
    const protocol = offered.map((name) => name.trim()).find(isProtocol);
    this.#effects = PROTOCOLS[protocol ?? SUBPROTOCOL.current];
  }

  message(direction: Direction, text: string): ExplainedMessageVerdict {
    const message = read(text, mostValues(direction));
    const unreadable = direction === "send" ? CLOSED : DENIED;
    if (message === undefined) return unreadable;
    const { id, type, payload } = message;
    const effects = this.#effects[direction];
    const effect = Object.hasOwn(effects, type) ? effects[type] : undefined;
    switch (effect) {
      case undefined:
        return unreadable;
      case "pass":
        return PASSED;
      case "start":
        return this.#start(id, payload);
      case "stop":
      case "finish":
        this.#running.delete(id);
        return PASSED;
      case "result":
        return this.#result(id, payload);
    }
  }

  #start(id: string, payload: InputValue): ExplainedMessageVerdict {
    if (id === "" || this.#running.has(id)) return CLOSED;
    try {
      const request = { payloads: [readPayload(payload)], batch: false, kinds: KINDS, nullable: false };
      const { verdict, explanation } = explainOperations(this.#desk, request);
      const evaluated = verdictsOfRules(explanation);
      if (verdict.kind !== "allowed") {
        const code =
          verdict.kind === "refused" ? verdict.code : (verdict.denials[0]?.code ?? GRAPHQL.ACCESS_DENIED);
        const rule = verdict.kind === "denied" ? this.#rule(verdict.denials[0]?.rule) : {};
        return { ...DENIED, code, operation: explanation, evaluated, ...rule };
      }
      this.#running.set(id, verdict.events);
      return { ...PASSED, operation: explanation, evaluated, ...this.#rule(explanation.rules[0]?.rule.id) };
    } catch (error) {
      if (error instanceof GraphqlRefusal) return { ...DENIED, code: error.code };
      throw error;
    }
  }

  #result(id: string, payload: InputValue): ExplainedMessageVerdict {
    const events = this.#running.get(id);
    if (events === undefined) return DENIED;
    const { deliver, rule } = { rule: undefined, ...evaluateEvent(events, payload, { env: this.#env }) };
    const evaluated = events
      .flatMap((event) => this.#verdict(event, payload) ?? [])
      .map((one) => {
        const { condition } = this.#condition(one.rule, events, payload);
        return condition === undefined ? one : { ...one, parts: partsOfTrace(condition) };
      });
    const asked = rule ?? evaluated[0]?.rule;
    const why = { evaluated, ...this.#rule(asked), ...this.#condition(asked, events, payload) };
    const isGuarded = (this.#desk.plan.guardedNames ?? []).length > 0;
    return deliver && !(isGuarded && !isCompleteResult(payload))
      ? { ...PASSED, ...why }
      : { ...DENIED, code: GRAPHQL.ACCESS_DENIED, ...why };
  }

  /** The explained condition over the payload; nothing for a list, whose items are evaluated separately. */
  #condition(
    id: string | undefined,
    events: readonly GraphqlEvent[],
    payload: InputValue,
  ): Pick<ExplainedMessageVerdict, "condition"> {
    const event = events.find(({ rule }) => rule === id);
    const data = event === undefined ? undefined : memberOf(payload, "data");
    const delivered = data && memberOf(data, event?.key ?? "");
    const prepared = this.#desk.evaluation.snapshot.graphql.rules.find(({ rule }) => rule.id === id);
    if (event === undefined || delivered === undefined || !isObject(delivered) || prepared === undefined)
      return {};
    const roots = event.roots.map((root): [string, InputValue] => [
      root,
      event.members.includes(root) ? (memberOf(delivered, root) ?? UNAVAILABLE) : delivered,
    ]);
    const attributes = {
      ...this.#desk.attributes,
      ...Object.fromEntries(roots),
      args: event.args,
      env: this.#env,
    };
    return { condition: explain(prepared.rule.condition.expression, attributes as Attributes) };
  }

  /** Nothing if the event has no payload for the condition. A list that is only partly true counts as neither. */
  #verdict(event: GraphqlEvent, payload: InputValue): EvaluatedCondition | undefined {
    const delivers = (when: Expression) =>
      evaluateEvent([{ ...event, when }], payload, { env: this.#env }).deliver;
    const isTrue = delivers(event.when);
    const isFalse = delivers({ op: "not", arg: event.when });
    if (isTrue && isFalse) return undefined;
    return { rule: event.rule, verdict: isTrue ? "true" : isFalse ? "false" : "unknown" };
  }

  #rule(id: string | undefined): Pick<ExplainedMessageVerdict, "rule"> {
    const found = this.#desk.evaluation.snapshot.graphql.rules.find(({ rule }) => rule.id === id);
    return found === undefined ? {} : { rule: ruleReference(found.rule) };
  }
}

const KINDS = ["query", "mutation", "subscription"] as const;
const MEMBERS: readonly string[] = ["id", "type", "payload"];

/** Reads a message of the protocol; `undefined` if it is ambiguous or malformed. */
function read(text: string, values: number): { id: string; type: string; payload: InputValue } | undefined {
  try {
    const message = readJson(text, values);
    if (!isObject(message) || Object.keys(message).some((name) => !MEMBERS.includes(name))) return undefined;
    const { id = "", type, payload = null } = message;
    return typeof type === "string" && typeof id === "string" ? { id, type, payload } : undefined;
  } catch (error) {
    if (error instanceof GraphqlRefusal) return undefined;
    throw error;
  }
}

function memberOf(value: InputValue, name: string): InputValue | undefined {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
