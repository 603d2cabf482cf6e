import { quoted } from "../../text/index.ts";
import { type Reporter } from "../diagnostics/reporter.ts";
import { placeOfKey, readChoice, readFields, readString, type Fields } from "../read/reader.ts";
import type { YamlNode } from "../syntax/tree.ts";
import { parseUser, withCustomer } from "./parse-actor.ts";
import { ANSWER_KEYS, parseAnswer, parseAnswerExpectation, readNames } from "./parse-answer.ts";
import { positionOf, readName, type ParseContext } from "./parse-context.ts";
import { parseGraphql } from "./parse-graphql.ts";
import { parseRequest } from "./parse-request.ts";
import { parseCaseAttributes } from "./parse-case-attributes.ts";
import { parseMessages, parseWebsocket } from "./parse-websocket.ts";
import { VERDICTS, type Expectation, type SuiteCase, type SuiteRequest } from "./types.ts";
import { placeOf } from "../syntax/place-of.ts";

/** The subjects of a test. A test has exactly one of them. */
const SUBJECTS: Readonly<Record<string, (node: YamlNode, report: Reporter) => SuiteRequest>> = {
  request: parseRequest,
  graphql: parseGraphql,
  websocket: parseWebsocket,
};

const KEYS = [
  ...["name", ...Object.keys(SUBJECTS), "user", "customer", "attributes", "env", "expect", "reason", "rule"],
  ...["denied", "response", ...ANSWER_KEYS, "messages"],
];

/** Reads one entry of `tests`; `undefined` if too much is missing. */
export function parseTest(node: YamlNode, context: ParseContext): SuiteCase | undefined {
  const { report } = context;
  const fields = readFields(report, node, "a test", KEYS);
  if (fields === undefined) return undefined;
  const name = readName(fields, context);
  const request = parseSubject(fields, report);
  const actor = withCustomer(parseUser(fields.get("user"), context), fields.get("customer"), report);
  const caseAttributes = parseCaseAttributes(fields, report);
  const expected = parseExpectation(fields, report);
  checkKeys(fields, expected, report);
  const responseNode = fields.get("response");
  const answer = responseNode && parseAnswer(responseNode, report);
  const messagesNode = fields.get("messages");
  const messages = messagesNode && parseMessages(messagesNode, report);
  if (request === undefined || expected === undefined) return undefined;
  return {
    name,
    at: positionOf(node),
    input: { request, ...actor, ...caseAttributes },
    ...(answer && { answer }),
    ...(messages && { messages }),
    expected,
  };
}

function parseSubject(fields: Fields, report: Reporter): SuiteRequest | undefined {
  const [first, second] = Object.keys(SUBJECTS).filter((key) => fields.get(key) !== undefined);
  if (second !== undefined) {
    const message = "a test must have exactly one of `request`, `graphql` and `websocket`";
    report.error(placeOfKey(fields, second), "unexpected-key", message);
  }
  const node = fields.require(first ?? "request");
  return node && SUBJECTS[first ?? "request"]?.(node, report);
}

function parseExpectation(fields: Fields, report: Reporter): Expectation | undefined {
  const expect = fields.require("expect");
  const decision = expect && readChoice(report, expect, "`expect`", VERDICTS);
  const reasonNode = fields.get("reason");
  const reason = reasonNode && parseReason(reasonNode, report);
  const ruleNode = fields.get("rule");
  const rule = ruleNode && readString(report, ruleNode, "`rule`")?.text;
  const deniedNode = fields.get("denied");
  const denied = deniedNode && readNames(deniedNode, "`denied`", report);
  const answer = parseAnswerExpectation(fields, report);
  if (decision === undefined) return undefined;
  return {
    decision,
    ...(reason !== undefined && { reason }),
    ...(rule !== undefined && { rule }),
    ...(denied && { denied }),
    ...(answer && Object.keys(answer).length > 0 && { answer }),
  };
}

/** Keys that have no effect without another one. The test would seem to check something that it does not. */
function checkKeys(fields: Fields, expected: Expectation | undefined, report: Reporter): void {
  const has = (key: string) => fields.get(key) !== undefined;
  const complain = (key: string, message: string) => {
    if (has(key)) report.error(placeOfKey(fields, key), "unexpected-key", message);
  };
  if (!has("graphql")) complain("denied", "`denied` is only allowed in a test of `graphql`");
  if (!has("websocket")) complain("messages", "`messages` is only allowed in a test of a `websocket`");
  else complain("response", "`response` is not allowed in a test of a `websocket`: use `messages`");
  if (!has("response"))
    for (const key of ANSWER_KEYS) complain(key, `${quoted(key)} is only allowed together with \`response\``);
  if (expected?.decision !== "deny") return;
  complain("response", "a denied request has no response");
  complain("messages", "a denied connection has no messages");
}

/** The caller knows the codes; here one only has to look like a code. */
function parseReason(node: YamlNode, report: Reporter): string | undefined {
  const reason = readString(report, node, "`reason`")?.text;
  if (reason !== undefined && !/^[A-Z]+(?:_[A-Z]+)*$/.test(reason)) {
    const message = `${quoted(reason)} is not a reason code`;
    report.error(placeOf(node), "invalid-reason", message, "write one like `CONDITION_FALSE`");
  }
  return reason;
}
