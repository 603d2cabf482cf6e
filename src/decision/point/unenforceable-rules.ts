import {
  conditionsOfSet,
  IR_VERSION,
  type PlacedCondition,
  type PlanIR,
  type PolicySetIR,
  type SourcePosition,
} from "../../policy/evaluation.ts";
import type { DoorAbilities, Task } from "./door.ts";
import { tasksOf } from "./enforceable.ts";

/** What a door cannot do that a rule needs: a task of plans, or telling a part of the request. */
export type Lack = Task | "body" | "protocol";

/** A rule that a door cannot enforce: a request that needs it is never permitted there. */
export interface Unenforceable {
  readonly lack: Lack;
  readonly at: SourcePosition;
  /** Absent for `preflight` at the head of the set. */
  readonly rule?: PlacedCondition["rule"];
}

/**
 * Finds the rules that a door cannot enforce. It asks the same question about the plans that a rule leads to as the
 * decision point asks about the plan of a permit.
 *
 * @param preflightAt - where the set has the key `preflight`
 */
export function findUnenforceable(
  ir: PolicySetIR,
  { carries, sendsBodies, hides }: DoorAbilities,
  preflightAt: SourcePosition,
): Unenforceable[] {
  const found: Unenforceable[] = [];
  const add = (lack: Lack | undefined, at: SourcePosition, rule?: PlacedCondition["rule"]) => {
    if (lack !== undefined) found.push({ lack, at, ...(rule && { rule }) });
  };
  const lackOf = (plan: PlanIR) => tasksOf(plan).find((task) => !carries.has(task));
  const operations = sendsBodies ? lackOf(OPERATION) : "body";
  if (ir.preflight === "allow") add(lackOf(PREFLIGHT), preflightAt);
  for (const rule of ir.responses) add(lackOf(RESPONSE), rule.at, rule);
  for (const rule of ir.graphql.rules) add(operations, rule.at, rule);
  for (const connection of ir.websocket.connections) {
    add(lackOf(CONNECTION), connection.at, connection);
    for (const message of connection.messages) add(lackOf(CONNECTION), message.at, message);
  }
  const untold = [...(sendsBodies ? [] : ["body" as const]), ...(hides ?? [])];
  const known = new Set(found.map(({ rule }) => rule));
  for (const { rule, at, condition } of conditionsOfSet(ir))
    if (!known.has(rule))
      add(
        untold.find((member) => condition.reads.some(readerOf(member))),
        at,
        rule,
      );
  return found;
}

function readerOf(member: string): (read: readonly string[]) => boolean {
  return ([root, of]) => root === "request" && (of === undefined || of === member);
}

const RESPONSE: PlanIR = { ir: IR_VERSION, response: { limit: 0, fields: [] } };
const PREFLIGHT: PlanIR = { ir: IR_VERSION, preflight: true };
/** As of a connection that only `websocket_policies` permits: an ordinary response to it is not. */
const CONNECTION: PlanIR = { ir: IR_VERSION, websocket: { environment: "", limit: 0, plain: false } };
const OPERATION: PlanIR = { ...RESPONSE, ...CONNECTION };
