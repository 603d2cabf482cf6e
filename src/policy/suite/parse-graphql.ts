import type { Reporter } from "../diagnostics/reporter.ts";
import { readFields, readString } from "../read/reader.ts";
import type { YamlNode } from "../syntax/tree.ts";
import { checkPath, parseHeaders } from "./parse-request.ts";
import { readObject } from "./read-value.ts";
import type { SuiteRequest } from "./types.ts";

/** Reads `graphql`: a document, or a mapping. It is sent as a POST (GraphQL over HTTP, section 6.3). */
export function parseGraphql(node: YamlNode, report: Reporter): SuiteRequest {
  if (node.kind === "scalar") return operation({ query: readString(report, node, "`graphql`")?.text ?? "" });
  const keys = ["path", "query", "variables", "operationName", "headers"];
  const fields = readFields(report, node, "an operation", keys);
  if (fields === undefined) return operation({ query: "" });
  const pathNode = fields.get("path");
  const path = pathNode && readString(report, pathNode, "`path`");
  if (path !== undefined) checkPath(path.text, path, report);
  const queryNode = fields.require("query");
  const query = queryNode && readString(report, queryNode, "`query`")?.text;
  const variablesNode = fields.get("variables");
  const variables = variablesNode && readObject(report, variablesNode, "`variables`");
  const nameNode = fields.get("operationName");
  const operationName = nameNode && readString(report, nameNode, "`operationName`")?.text;
  return {
    ...operation({
      query: query ?? "",
      ...(variables !== undefined && { variables }),
      ...(operationName !== undefined && { operationName }),
    }),
    ...(path !== undefined && { path: path.text }),
    headers: parseHeaders(fields.get("headers"), report),
  };
}

function operation(body: NonNullable<SuiteRequest["body"]>): SuiteRequest {
  return { method: "POST", headers: [], body };
}
