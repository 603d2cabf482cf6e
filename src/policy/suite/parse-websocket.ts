import { type Reporter } from "../diagnostics/reporter.ts";
import { placeOfKey, readChoice, readFields, readItems, readString, type Fields } from "../read/reader.ts";
import type { YamlNode } from "../syntax/tree.ts";
import { parseDocument } from "./parse-answer.ts";
import { positionOf } from "./parse-context.ts";
import { checkPath, parseHeaders } from "./parse-request.ts";
import { documentText } from "./read-value.ts";
import { VERDICTS, type SuiteMessage, type SuiteRequest } from "./types.ts";
import { placeOf } from "../syntax/place-of.ts";

/** RFC 6455, section 4.1: a handshake. The key belongs to no connection, and nothing checks it. */
export const HANDSHAKE_HEADERS: SuiteRequest["headers"] = [
  ["upgrade", "websocket"],
  ["connection", "Upgrade"],
  ["sec-websocket-version", "13"],
  ["sec-websocket-key", "AAAAAAAAAAAAAAAAAAAAAA=="],
];

/** Reads `websocket`: the path of a handshake, or a mapping. */
export function parseWebsocket(node: YamlNode, report: Reporter): SuiteRequest {
  const fields =
    node.kind === "scalar" ? undefined : readFields(report, node, "a handshake", ["path", "headers"]);
  const pathNode = node.kind === "scalar" ? node : fields?.require("path");
  const path = pathNode && readString(report, pathNode, node.kind === "scalar" ? "`websocket`" : "`path`");
  if (path !== undefined) checkPath(path.text, path, report);
  const headers = [...HANDSHAKE_HEADERS, ...parseHeaders(fields?.get("headers"), report)];
  return { method: "GET", path: path?.text ?? "/", headers };
}

/** Reads `messages`: what is sent and received on the connection, in order. */
export function parseMessages(node: YamlNode, report: Reporter): readonly SuiteMessage[] {
  return readItems(report, node, "`messages`").flatMap((item) => parseMessage(item, report) ?? []);
}

function parseMessage(node: YamlNode, report: Reporter): SuiteMessage | undefined {
  const fields = readFields(report, node, "a message", ["send", "receive", "expect", "rule", "delivered"]);
  if (fields === undefined) return undefined;
  const direction = directionOf(fields, report);
  const document = direction && fields.get(direction);
  const text = document && documentText(report, document);
  const expect = fields.require("expect");
  const decision = expect && readChoice(report, expect, "`expect`", VERDICTS);
  const ruleNode = fields.get("rule");
  const rule = ruleNode && readString(report, ruleNode, "`rule`")?.text;
  const delivered = parseDelivered(fields, decision, report);
  if (direction === undefined || text === undefined || decision === undefined) return undefined;
  const expected = { decision, ...(rule !== undefined && { rule }), ...(delivered && { delivered }) };
  return { at: positionOf(node), direction, text, expected };
}

function directionOf(fields: Fields, report: Reporter): SuiteMessage["direction"] | undefined {
  const receive = fields.get("receive") !== undefined;
  if (fields.get("send") === undefined) {
    if (receive) return "receive";
    report.error(placeOf(fields.node), "missing-key", "a message must have `send` or `receive`");
    return undefined;
  }
  if (receive) {
    report.error(
      placeOfKey(fields, "receive"),
      "unexpected-key",
      "a message cannot have both `send` and `receive`",
    );
  }
  return "send";
}

function parseDelivered(fields: Fields, decision: string | undefined, report: Reporter) {
  const node = fields.get("delivered");
  if (node === undefined) return undefined;
  if (decision === "deny") {
    report.error(placeOfKey(fields, "delivered"), "unexpected-key", "a denied message is not delivered");
  }
  return parseDocument(node, report);
}
