import { similarMember } from "../../names/index.ts";
import { evaluate } from "../condition/index.ts";
import { parseDocument, seenValue } from "../mask/index.ts";
import type { PlannedField, PlannedMessage } from "../plan.ts";
import type { Value, ValueObject } from "../value.ts";
import { namesRead } from "./names-read.ts";

/** Why a message is delivered or not. */
export type MessageCode =
  | "PERMITTED"
  /** No JSON object with exactly one `type` that is a string, the name without escapes; or one of too many values. */
  | "UNREADABLE"
  /** No rule is for messages of its type. */
  | "UNLISTED"
  /** It has a name that could be read as one that its rule reads. */
  | "AMBIGUOUS"
  /** The condition of its rule is not true. */
  | "CONDITION";

export interface MessageVerdict {
  readonly permit: boolean;
  readonly code: MessageCode;
  /** Absent where it cannot be told. */
  readonly type?: string;
  /** Id of the rule for its type. */
  readonly rule?: string;
  /** What becomes of the connection where the message is denied. */
  readonly onDeny: PlannedMessage["onDeny"];
  /** What is changed in a permitted message before it is delivered. */
  readonly fields: readonly PlannedField[];
}

/**
 * Evaluates a text message by the rules of its direction: one that is not listed is denied. Pure; never throws. The same as
 * `envoy/lua/gatehouse/messages.lua` does in Envoy.
 *
 * @param rules - by type
 * @param context - `values`: how many values the message may have; absent: any number
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
 * @returns the object that a message is, as conditions see it; `undefined` where it is none. Nor is it one where `type` is
 *   written with escapes: readers that compare names as they are written would find another one, or none.
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
