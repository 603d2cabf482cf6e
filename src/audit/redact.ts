import { HIDDEN } from "../telemetry/redact.ts";

export { sanitize, sanitizeValue } from "../telemetry/redact.ts";

/** Where a query or fragment begins, in any spelling that some parser may take for one. */
const QUERY_START = /[?#]|%(?:25)*(?:3f|23)/i;
const PATH_PARAMETER = /;([^;=/]*)=[^;/]*/g;
const USER_INFO = /^([a-z][a-z0-9+.-]*:)?\/\/[^/]*@/i;

/** Most targets are nothing but a path. */
const HAS_MORE_THAN_PATH = /[?#%;@]/;

/** A request target without the values of its query, its path parameters and its user information; names are kept. */
export function redactTarget(target: string): string {
  if (!HAS_MORE_THAN_PATH.test(target)) return target;
  const start = target.search(QUERY_START);
  const path = (start < 0 ? target : target.slice(0, start))
    .replace(USER_INFO, `$1//${HIDDEN}@`)
    .replace(PATH_PARAMETER, `;$1=${HIDDEN}`);
  if (start < 0) return path;
  const query = target.slice(start);
  const mark = QUERY_START.exec(query)?.[0] ?? "";
  return path + mark + query.slice(mark.length).split("&").map(redactParameter).join("&");
}

function redactParameter(parameter: string): string {
  if (parameter === "") return "";
  const equals = parameter.indexOf("=");
  return equals < 0 ? HIDDEN : `${parameter.slice(0, equals)}=${HIDDEN}`;
}
