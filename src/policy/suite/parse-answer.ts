import { type Reporter } from "../diagnostics/reporter.ts";
import { placeOfKey, readFields, readInteger, readItems, readString, type Fields } from "../read/reader.ts";
import type { YamlNode } from "../syntax/tree.ts";
import { parseHeaders } from "./parse-request.ts";
import { documentText, readValue } from "./read-value.ts";
import type { ExpectedDocument, Expectation, SampleAnswer } from "./types.ts";
import { placeOf } from "../syntax/place-of.ts";

/** What a test may expect of the response. */
export const ANSWER_KEYS = ["expect_body", "expect_refused", "masked"] as const;

/** Reads `response`: the application's assumed response. */
export function parseAnswer(node: YamlNode, report: Reporter): SampleAnswer | undefined {
  const fields = readFields(report, node, "a response", ["status", "headers", "body"]);
  if (fields === undefined) return undefined;
  const statusNode = fields.get("status");
  const status = statusNode && readInteger(report, statusNode, "`status`", [200, 599]);
  const body = fields.get("body");
  return {
    status: status ?? 200,
    headers: parseHeaders(fields.get("headers"), report),
    text: body === undefined ? "" : documentText(report, body),
  };
}

/** Reads the expectations about the response. */
export function parseAnswerExpectation(fields: Fields, report: Reporter): Expectation["answer"] {
  const bodyNode = fields.get("expect_body");
  const body = bodyNode && parseDocument(bodyNode, report);
  const refusedNode = fields.get("expect_refused");
  const refused = refusedNode !== undefined && isTrue(refusedNode, report);
  const maskedNode = fields.get("masked");
  const masked = maskedNode && readNames(maskedNode, "`masked`", report);
  if (refused) {
    for (const key of ["expect_body", "masked"]) {
      if (fields.get(key) === undefined) continue;
      report.error(
        placeOfKey(fields, key),
        "unexpected-key",
        "a refused response is not delivered: delete it or `expect_refused`",
      );
    }
  }
  return { ...(body && { body }), ...(refused && { refused }), ...(masked && { masked }) };
}

/** Reads a document to compare with: JSON, or exact text if it is a string. */
export function parseDocument(node: YamlNode, report: Reporter): ExpectedDocument {
  if (node.kind === "scalar" && typeof node.value === "string") return { text: node.text };
  return { json: readValue(report, node) };
}

/** Reads a list of strings. */
export function readNames(node: YamlNode, what: string, report: Reporter): readonly string[] {
  return readItems(report, node, what).flatMap(
    (item) => readString(report, item, `an entry of ${what}`)?.text ?? [],
  );
}

/** `false` would mean the same as leaving it out. */
function isTrue(node: YamlNode, report: Reporter): node is YamlNode {
  if (node.kind === "scalar" && node.value === true) return true;
  const hint = "delete it if the response is delivered";
  report.error(placeOf(node), "invalid-value", "`expect_refused` must be `true`", hint);
  return false;
}
