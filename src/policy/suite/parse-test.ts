import { placeOf, type Reporter } from "../diagnostics/reporter.ts";
import { quoted } from "../diagnostics/wording.ts";
import { readChoice, readFields, readString, type Fields } from "../read/reader.ts";
import type { YamlNode } from "../syntax/tree.ts";
import { parseUser, withCustomer } from "./parse-actor.ts";
import { positionOf, readName, type ParseContext } from "./parse-context.ts";
import { parseRequest } from "./parse-request.ts";
import { parseSurroundings } from "./parse-surroundings.ts";
import { VERDICTS, type Expectation, type SuiteCase } from "./types.ts";

const KEYS = ["name", "request", "user", "customer", "attributes", "env", "expect", "reason", "rule"];

/** Reads one entry of `tests`; `undefined` where there is too little of it. */
export function parseTest(node: YamlNode, context: ParseContext): SuiteCase | undefined {
  const { report } = context;
  const fields = readFields(report, node, "a test", KEYS);
  if (fields === undefined) return undefined;
  const name = readName(fields, context);
  const requestNode = fields.require("request");
  const request = requestNode && parseRequest(requestNode, report);
  const actor = withCustomer(parseUser(fields.get("user"), context), fields.get("customer"), report);
  const surroundings = parseSurroundings(fields, report);
  const expected = parseExpectation(fields, report);
  if (request === undefined || expected === undefined) return undefined;
  return { name, at: positionOf(node), input: { request, ...actor, ...surroundings }, expected };
}

function parseExpectation(fields: Fields, report: Reporter): Expectation | undefined {
  const expect = fields.require("expect");
  const decision = expect && readChoice(report, expect, "`expect`", VERDICTS);
  const reasonNode = fields.get("reason");
  const reason = reasonNode && parseReason(reasonNode, report);
  const ruleNode = fields.get("rule");
  const rule = ruleNode && readString(report, ruleNode, "`rule`")?.text;
  if (decision === undefined) return undefined;
  return { decision, ...(reason !== undefined && { reason }), ...(rule !== undefined && { rule }) };
}

/** Which codes there are is the caller's business; here one only has to look like a code. */
function parseReason(node: YamlNode, report: Reporter): string | undefined {
  const reason = readString(report, node, "`reason`")?.text;
  if (reason !== undefined && !/^[A-Z]+(?:_[A-Z]+)*$/.test(reason)) {
    const message = `${quoted(reason)} is not a reason code`;
    report.error(placeOf(node), "invalid-reason", message, "write one like `CONDITION_FALSE`");
  }
  return reason;
}
