import type { Reporter } from "../diagnostics/reporter.ts";
import type { YamlNode } from "../syntax/tree.ts";
import { readCondition } from "./condition.ts";
import { readPattern } from "./pattern.ts";
import type { ConnectionSource, MessageSource } from "./policy-source.ts";
import { readChoice, readFields, readItems, readString } from "./reader.ts";
import { readRule } from "./rule.ts";

type Pattern = ConnectionSource["pattern"];

const section = "websocket_policies" as const;

/** Reads an entry of `websocket_policies`: a connection, and the types of its messages. */
export function readWebsocketEntry(
  report: Reporter,
  node: YamlNode,
  id: string,
): { connections: readonly ConnectionSource[]; messages: readonly MessageSource[] } {
  const fields = readFields(report, node, "a WebSocket policy", ["connection", "message_types"]);
  const first = fields?.require("connection");
  const { pattern, connections } = readConnection(report, first, `${id}.connection`);
  const list = fields?.get("message_types");
  const items = list === undefined ? [] : readItems(report, list, "`message_types`");
  const messages = items.flatMap((item, index) => {
    const message = readMessage(report, item, `${id}.message_types[${index}]`);
    return message && pattern ? [{ ...message, pattern }] : [];
  });
  return { connections, messages };
}

function readConnection(
  report: Reporter,
  node: YamlNode | undefined,
  id: string,
): { pattern?: Pattern | undefined; connections: readonly ConnectionSource[] } {
  const rule = node && readRule(report, node, "`connection`", ["path", "condition"]);
  if (rule === undefined) return { connections: [] };
  const path = rule.fields.get("path");
  const pattern: Pattern | undefined =
    path === undefined
      ? { node: rule.head.node, text: "/**", segments: [{ kind: "rest" }] }
      : readPattern(report, path, "`path`", { method: "none", wildcards: "web" });
  const condition = readCondition(report, rule.fields);
  const connections =
    pattern && condition ? [{ section, id, ...rule.head, pattern, condition } as const] : [];
  return { pattern, connections };
}

function readMessage(
  report: Reporter,
  node: YamlNode,
  id: string,
): Omit<MessageSource, "pattern"> | undefined {
  const rule = readRule(report, node, "a message type", ["type", "direction", "condition", "on_deny"]);
  if (rule === undefined) return undefined;
  const { fields, head } = rule;
  const name = fields.require("type");
  const type = name && readString(report, name, "`type`");
  const way = fields.get("direction");
  const direction = way === undefined ? "send" : readChoice(report, way, "`direction`", ["send", "receive"]);
  const answer = fields.get("on_deny");
  const onDeny = answer === undefined ? "drop" : readChoice(report, answer, "`on_deny`", ["drop", "close"]);
  const condition = readCondition(report, fields);
  return (
    type && direction && onDeny && condition && { section, id, ...head, type, direction, onDeny, condition }
  );
}
