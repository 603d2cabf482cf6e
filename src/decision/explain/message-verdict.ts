import type { TraceNode, WebsocketMessageIR } from "../../policy/index.ts";
import { MAX_VALUES } from "../../json/index.ts";
import type { EvaluatedCondition } from "../../policy/suite/index.ts";
import type { OperationExplanation } from "./explain-operations.ts";
import type { FieldExplanation, EvaluatedField } from "./explain-responses.ts";
import type { RuleReference } from "../policies/rule-reference.ts";

export type Direction = WebsocketMessageIR["direction"];

/** Maximum number of values in a client's message. Servers' messages, like responses, are limited only in bytes. */
export function mostValues(direction: Direction): number {
  return direction === "send" ? MAX_VALUES : Infinity;
}

/** The outcome of a message, and why. Everything but `evaluated` is plain JSON. */
export interface ExplainedMessage {
  readonly direction: Direction;
  /** The delivered text; absent if the message is not delivered. */
  readonly delivered?: string;
  readonly code: string;
  readonly rule?: RuleReference;
  readonly condition?: TraceNode;
  readonly fields: readonly FieldExplanation[];
  readonly operation?: OperationExplanation;
  readonly evaluated: readonly EvaluatedCondition[];
}

/** The verdict on a message, before masking. */
export interface ExplainedMessageVerdict extends Pick<
  ExplainedMessage,
  "code" | "rule" | "condition" | "operation" | "evaluated"
> {
  readonly permit: boolean;
  readonly close: boolean;
  /** Fields masked by the message's own rule. */
  readonly fields: readonly EvaluatedField[];
}
