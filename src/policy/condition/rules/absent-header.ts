import { quoted } from "../../../text/index.ts";
import { warningAt } from "../finding.ts";
import { formatPath } from "../format.ts";
import type { ConditionCheck } from "../types.ts";

/** RFC 9110, section 5.6.2. */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;
/**
 * Names that have an attribute of their own: over HTTP/2 there is no `host` header, and pseudo-headers are not headers.
 */
const INSTEAD: ReadonlyMap<string, string> = new Map([
  ["host", "request.host"],
  [":authority", "request.host"],
  [":method", "request.method"],
  [":path", "request.path"],
  [":scheme", "request.scheme"],
]);

/** A header that no request has: `not exists(request.headers.host)` is always true. */
export const absentHeader: ConditionCheck = (node) => {
  if (node.op !== "attribute") return [];
  const [root, member, name] = node.path;
  if (root !== "request" || member !== "headers" || name === undefined) return [];
  const instead = INSTEAD.get(name.toLowerCase());
  if (instead === undefined && TOKEN.test(name)) return [];
  const hint =
    instead === undefined
      ? "use letters, digits and hyphens in a header name"
      : `write \`${instead}\`, which every request has`;
  return [warningAt(node, "absent-header", `no request has ${quoted(formatPath(node.path))}`, hint)];
};
