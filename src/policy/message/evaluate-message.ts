import { similarMember } from "../../names/index.ts";
import { evaluate } from "../condition/evaluation.ts";
import { parseDocument, seenValue } from "../mask/index.ts";
import type { PlannedField, PlannedMessage } from "../plan.ts";
import type { Value, ValueObject } from "../value.ts";
import { namesRead } from "./names-read.ts";

/** Why a message is or is not delivered. */
export type MessageCode =
  | "PERMITTED"
  /**
   * Not a JSON object with exactly one `type`, a string whose name is written without escapes; or it has too many
   * values.
   */
  | "UNREADABLE"
  /** There is no rule for messages of its type. */
  | "UNLISTED"
  /** It has a name that could be mistaken for one that its rule reads. */
  | "AMBIGUOUS"
  /** Its rule's condition is not true. */
  | "CONDITION";

export interface MessageVerdict {
  readonly permit: boolean;
  readonly code: MessageCode;
  /** Absent if it cannot be determined. */
  readonly type?: string;
  /** Id of the rule for its type. */
  readonly rule?: string;
  /** What happens to the connection if the message is denied. */
  readonly onDeny: PlannedMessage["onDeny"];
  /** The changes to a permitted message before delivery. */
  readonly fields: readonly PlannedField[];
}

/**
 * Evaluates a text message by the rules of its direction. A type without a rule is denied. Pure; never throws.
 * Equivalent to `envoy/lua/gatehouse/messages.lua` in Envoy.
 *
 * @param rules - by type
 * @param context - `values` limits the number of values in the message; absent means no limit
 */
export function evaluateMessage(
  rules: Readonly<Record<string, PlannedMessage>>,
  text: string,
  { env, values }: { readonly env: Value; readonly values?: number },
): MessageVerdict {
  const message = readMessage(text, values);
  const type = message?.["type"];
  if (message === undefined || typeof type !== "string" || !type.isWellFormed()) {
    return { permit: false, code: "UNREADABLE", onDeny: "drop", fields: [] };
  }
  const planned = Object.hasOwn(rules, type) ? rules[type] : undefined;
  if (planned === undefined) return { permit: false, code: "UNLISTED", type, onDeny: "drop", fields: [] };
  const { rule, when, onDeny, fields = [] } = planned;
  if (similarMember(message, namesRead(planned)) !== undefined)
    return { permit: false, code: "AMBIGUOUS", type, rule, onDeny, fields: [] };
  const permit = when === undefined || (when !== false && evaluate(when, { message, env }) === true);
  const code = permit ? "PERMITTED" : "CONDITION";
  return { permit, code, type, rule, onDeny, fields: permit ? fields : [] };
}

/**
 * @returns the message's object as conditions see it; `undefined` if it is not an object, or if `type` is written with
 *   escapes: a reader that compares names as written would find another member, or none.
 */
export function readMessage(text: string, values?: number): ValueObject | undefined {
  const document = parseDocument(text, values);
  if (!document.ok || document.root.kind !== "object") return undefined;
  const disguised = document.root.members.some(
    ({ name, start }) => name === "type" && !text.startsWith(PLAIN_TYPE, start),
  );
  return disguised ? undefined : (seenValue(document.root) as ValueObject);
}

const PLAIN_TYPE = '"type"';
