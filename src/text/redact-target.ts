import { HIDDEN } from "./hidden.ts";
import { spellOut } from "./visible.ts";

const MAX_INPUT = 8192;
const MAX_LENGTH = 1024;
const MARK = "...";

/** The common case: nothing to hide or escape. */
const PLAIN_PATH = /^[^?#%;@\0-\x1f\x7f-\uffff]*$/;

/** The start of a query or fragment for any stack: `?` or `#`, encoded any number of times. */
const QUERY_START = /[?#]|%(?:25)*(?:3f|23)/i;
const EQUALS = /=|%(?:25)*3d/i;
const SEMICOLON = /(;|%(?:25)*3b)/i;
const USER_INFORMATION = /^([a-z][a-z0-9+.-]*:)?\/\/[^/?#\\]*@/i;

/**
 * A request target in a form that is safe to log: the path, the names of the query's parameters, and `***` for every
 * value (query, fragment, path parameter, user information). Anything but printable ASCII is escaped as `\xNN`. At most
 * 1,024 characters; a longer one ends in `...`. Never throws.
 */
export function redactTarget(target: string): string {
  if (PLAIN_PATH.test(target) && target.length <= MAX_LENGTH) return target;
  const whole = target.length > MAX_INPUT ? target.slice(0, MAX_INPUT) : target;
  const start = whole.search(QUERY_START);
  const path = start < 0 ? whole : whole.slice(0, start);
  const safe = spellOut(redactPath(path) + (start < 0 ? "" : redactQuery(whole.slice(start))));
  return safe.length > MAX_LENGTH || whole.length < target.length
    ? safe.slice(0, MAX_LENGTH - MARK.length) + MARK
    : safe;
}

function redactPath(path: string): string {
  if (PLAIN_PATH.test(path)) return path;
  const parts = path.replace(USER_INFORMATION, `$1//${HIDDEN}@`).split(/([/\\])/);
  return parts.map(redactSegment).join("");
}

/** Hides the values of path parameters. Splitting by a pattern with a group keeps the separators. */
function redactSegment(segment: string): string {
  const [name = "", ...parameters] = segment.split(SEMICOLON);
  return name + parameters.map(redactValue).join("");
}

/** @param query - including its leading `?` or `#` */
function redactQuery(query: string): string {
  const mark = QUERY_START.exec(query)?.[0] ?? "";
  const parameters = query.slice(mark.length).split("&");
  return mark + parameters.map(redactParameter).join("&");
}

/** A parameter without a name may itself be the secret. */
function redactParameter(parameter: string): string {
  return parameter === "" || EQUALS.test(parameter) ? redactValue(parameter) : HIDDEN;
}

function redactValue(parameter: string): string {
  const equals = EQUALS.exec(parameter);
  return equals === null ? parameter : parameter.slice(0, equals.index) + equals[0] + HIDDEN;
}
