import type { TraceNode, WebsocketMessageIR } from "../../policy/index.ts";
import { MAX_VALUES } from "../../json/index.ts";
import type { EvaluatedCondition } from "../../policy/suite/index.ts";
import type { OperationExplanation } from "./explain-operations.ts";
import type { FieldExplanation, EvaluatedField } from "./explain-responses.ts";
import type { RuleReference } from "../policies/rule-reference.ts";

export type Direction = WebsocketMessageIR["direction"];

/** How many values a message may have that is read: what servers send is bounded by its bytes alone, like answers. */
export function mostValues(direction: Direction): number {
  return direction === "send" ? MAX_VALUES : Infinity;
}

/** What became of a message, and why. All but `evaluated` is plain JSON. */
export interface ExplainedMessage {
  readonly direction: Direction;
  /** What is delivered; absent where the message is not. */
  readonly delivered?: string;
  readonly code: string;
  readonly rule?: RuleReference;
  readonly condition?: TraceNode;
  readonly fields: readonly FieldExplanation[];
  readonly operation?: OperationExplanation;
  readonly evaluated: readonly EvaluatedCondition[];
}

/** The verdict about a message, before anything in it is changed. */
export interface ExplainedMessageVerdict extends Pick<
  ExplainedMessage,
  "code" | "rule" | "condition" | "operation" | "evaluated"
> {
  readonly permit: boolean;
  readonly close: boolean;
  /** Fields of the message's own rule. */
  readonly fields: readonly EvaluatedField[];
}
