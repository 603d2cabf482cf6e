import { quoted } from "../../text/index.ts";
import { type Reporter } from "../diagnostics/reporter.ts";
import { readFields, readString, wrongType } from "../read/reader.ts";
import type { YamlNode } from "../syntax/tree.ts";
import { readEntries, readValue } from "./read-value.ts";
import type { SuiteRequest } from "./types.ts";
import { placeOf } from "../syntax/place-of.ts";

/** RFC 9110 section 5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Placeholder for a request with a reported mistake; its suite is never run. */
const NO_REQUEST = { method: "GET", path: "/", headers: [] } satisfies SuiteRequest;

/** Reads a request: `GET /path`, or a mapping. */
export function parseRequest(node: YamlNode, report: Reporter): SuiteRequest {
  if (node.kind === "scalar") return parseRequestLine(node, report);
  const keys = ["method", "path", "host", "client_ip", "headers", "body"];
  const fields = readFields(report, node, "a request", keys);
  if (fields === undefined) return NO_REQUEST;
  const text = (key: string) => {
    const value = fields.get(key);
    return value && readString(report, value, quoted(key));
  };
  const path = fields.require("path") && text("path");
  if (path !== undefined) checkPath(path.text, path, report);
  const method = text("method");
  if (method !== undefined) checkMethod(method.text, method, report);
  const host = text("host")?.text;
  const clientIp = text("client_ip")?.text;
  const body = fields.get("body");
  return {
    method: method?.text ?? NO_REQUEST.method,
    path: path?.text ?? NO_REQUEST.path,
    headers: parseHeaders(fields.get("headers"), report),
    ...(host !== undefined && { host }),
    ...(clientIp !== undefined && { clientIp }),
    ...(body !== undefined && { body: readValue(report, body) }),
  };
}

/** Reads `GET /path?query`. */
export function parseRequestLine(node: YamlNode, report: Reporter): SuiteRequest {
  const line = readString(report, node, "a request")?.text;
  if (line === undefined) return NO_REQUEST;
  const [, method, path] = /^(\S+) +(\S.*)$/.exec(line) ?? [];
  if (method === undefined || path === undefined) {
    const message = `${quoted(line)} is not a request`;
    report.error(placeOf(node), "invalid-request", message, "write it like `GET /api/customers/c-1`");
    return NO_REQUEST;
  }
  checkMethod(method, node, report);
  checkPath(path, node, report);
  return { method, path, headers: [] };
}

/** Reads `headers`: a value or a list of values by name. */
export function parseHeaders(node: YamlNode | undefined, report: Reporter): SuiteRequest["headers"] {
  return readEntries(report, node, "`headers`").flatMap(({ key, value }) => {
    const name = key.text.toLowerCase();
    if (!TOKEN.test(name))
      report.error(placeOf(key), "invalid-header", `${quoted(name)} is not a valid header name`);
    const values = value.kind === "sequence" ? value.items : [value];
    return values.map((item) => [name, headerValue(item, report)] as const);
  });
}

/** Numbers and similar scalars count as their text. A missing value is probably a mistake, not an empty header. */
function headerValue(node: YamlNode, report: Reporter): string {
  if (node.kind === "scalar" && node.value !== null) return node.text;
  wrongType(report, node, "a header value", "a string");
  return "";
}

function checkMethod(method: string, node: YamlNode, report: Reporter): void {
  if (!TOKEN.test(method)) {
    report.error(placeOf(node), "invalid-method", `${quoted(method)} is not an HTTP method`);
  } else if (method !== method.toUpperCase()) {
    const hint = `did you mean \`${method.toUpperCase()}\`?`;
    report.warning(placeOf(node), "method-case", "methods are case-sensitive", hint);
  }
}

/** Reports only what could not be sent at all: a test may send a path that the gateway refuses. */
export function checkPath(path: string, node: YamlNode, report: Reporter): void {
  if (path.startsWith("/")) return;
  const hint = path.includes("://") ? "delete the scheme and host" : undefined;
  report.error(placeOf(node), "invalid-path", `the path ${quoted(path)} must begin with a slash`, hint);
}
