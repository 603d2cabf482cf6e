import { quoted } from "../../../text/index.ts";
import { warningAt } from "../finding.ts";
import { formatPath } from "../format.ts";
import type { ConditionCheck } from "../types.ts";

/** RFC 9110, section 5.6.2. */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;
/** What is an attribute of its own: over HTTP/2 there is no header `host`, and what begins with a colon is no header. */
const INSTEAD: ReadonlyMap<string, string> = new Map([
  ["host", "request.host"],
  [":authority", "request.host"],
  [":method", "request.method"],
  [":path", "request.path"],
  [":scheme", "request.scheme"],
]);

/** A header that no request has: `not exists(request.headers.host)` is true of all. */
export const absentHeader: ConditionCheck = (node) => {
  if (node.op !== "attribute") return [];
  const [root, member, name] = node.path;
  if (root !== "request" || member !== "headers" || name === undefined) return [];
  const instead = INSTEAD.get(name.toLowerCase());
  if (instead === undefined && TOKEN.test(name)) return [];
  const hint =
    instead === undefined
      ? "a header's name is letters, digits and hyphens"
      : `write \`${instead}\`, which every request has`;
  return [warningAt(node, "absent-header", `${quoted(formatPath(node.path))} is there in no request`, hint)];
};
