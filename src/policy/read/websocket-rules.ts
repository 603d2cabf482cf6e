import type { Reporter } from "../diagnostics/reporter.ts";
import type { YamlNode } from "../syntax/tree.ts";
import { readCondition } from "./condition.ts";
import { readPattern } from "./pattern.ts";
import type { ConnectionSource, MessageSource } from "./policy-source.ts";
import { CHOICES, CONNECTION_KEYS, ENTRY_KEYS, MESSAGE_KEYS } from "./keys.ts";
import { placeOfKey, readChoice, readFields, readItems, readString, type Fields } from "./reader.ts";
import { readMaskedFields } from "./response-rules.ts";
import { readRule } from "./rule.ts";

type Pattern = ConnectionSource["pattern"];

const section = "websocket_policies" as const;

/** Reads an entry of `websocket_policies`: a connection, and the types of its messages. */
export function readWebsocketEntry(
  report: Reporter,
  node: YamlNode,
  id: string,
): { connections: readonly ConnectionSource[]; messages: readonly MessageSource[] } {
  const fields = readFields(report, node, "a WebSocket policy", ENTRY_KEYS.websocket_policies);
  const first = fields?.require("connection");
  const { pattern, connection } = readConnection(report, first, `${id}.connection`);
  const list = fields?.get("message_types");
  const items = list === undefined ? [] : readItems(report, list, "`message_types`");
  const messages = items.flatMap((item, index) => {
    const message = readMessage(report, item, `${id}.message_types[${index}]`);
    return message && pattern ? [{ ...message, pattern }] : [];
  });
  return { connections: connection === undefined ? [] : [{ ...connection, messages }], messages };
}

function readConnection(
  report: Reporter,
  node: YamlNode | undefined,
  id: string,
): { readonly pattern?: Pattern | undefined; readonly connection?: Omit<ConnectionSource, "messages"> } {
  const rule = node && readRule(report, node, "`connection`", CONNECTION_KEYS);
  if (rule === undefined) return {};
  const path = rule.fields.get("path");
  const pattern: Pattern | undefined =
    path === undefined
      ? { node: rule.head.node, text: "/**", segments: [{ kind: "rest" }] }
      : readPattern(report, path, "`path`", { method: "none", wildcards: "web" });
  const condition = readCondition(report, rule.fields);
  if (!pattern || !condition) return { pattern };
  return { pattern, connection: { section, id, ...rule.head, pattern, condition } };
}

function readMessage(
  report: Reporter,
  node: YamlNode,
  id: string,
): Omit<MessageSource, "pattern"> | undefined {
  const rule = readRule(report, node, "a message type", MESSAGE_KEYS);
  if (rule === undefined) return undefined;
  const { head } = rule;
  const name = rule.fields.require("type");
  const type = name && readString(report, name, "`type`");
  const way = rule.fields.get("direction");
  const direction = way === undefined ? "send" : readChoice(report, way, "`direction`", CHOICES.direction);
  const answer = rule.fields.get("on_deny");
  const onDeny = answer === undefined ? "drop" : readChoice(report, answer, "`on_deny`", ["drop", "close"]);
  const condition = readCondition(report, rule.fields);
  const fields = readMessageFields(report, rule.fields, direction);
  if (!type || !direction || !onDeny || !condition) return undefined;
  return { section, id, ...head, type, direction, condition, onDeny, fields };
}

/** A client's message is delivered unchanged or not at all: a changed message would say what the client did not say. */
function readMessageFields(
  report: Reporter,
  rule: Fields,
  direction: MessageSource["direction"] | undefined,
): MessageSource["fields"] {
  const list = rule.get("fields");
  if (list === undefined) return [];
  if (direction === "send") {
    report.error(
      placeOfKey(rule, "fields"),
      "unexpected-key",
      "`fields` is not allowed for a message from the client",
      "only messages from the server can be masked: write `direction: receive`",
    );
  }
  return readMaskedFields(report, list);
}
