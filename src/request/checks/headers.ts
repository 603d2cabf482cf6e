import { quotedAscii } from "../../text/index.ts";
import type { Finder } from "./check.ts";

/** RFC 9110, sections 5.1 and 5.5: a name is a token (here in lower case), a value has no controls and is UTF-8. */
export const malformedHeader: Finder = ({ headers: { malformedName, malformedValue } }) => {
  if (malformedName !== undefined)
    return `the header name ${quotedAscii(malformedName)} is not a lower-case token`;
  return malformedValue === undefined
    ? undefined
    : `the value of header ${quotedAscii(malformedValue)} contains control characters or is not UTF-8`;
};

/** CGI and WSGI servers (RFC 3875, section 4.1.18) cannot tell `x_user` from `x-user`. */
export const underscoreHeader: Finder = ({ raw, headers: { underscoreName } }) => {
  const name = underscoreName ?? raw.removed?.find((removed) => removed.includes("_"));
  return name && `the header name ${quotedAscii(name)} has an underscore`;
};

const BEARER = /^bearer(?:[ \t,]|$)/i;
/** An empty element of a list, or `name=` of a scheme's parameter (RFC 9110, section 11.2). */
const PARAMETER = /^[ \t]*(?:$|[!#$%&'*+\-.^_`|~0-9A-Za-z]+[ \t]*=)/;

/**
 * Exactly one Authorization header with one scheme. A comma may separate the parameters of a scheme (Digest,
 * AWS4-HMAC-SHA256). A bearer token cannot contain one (RFC 6750, section 2.1): a comma there means two joined headers.
 */
export const repeatedAuthorization: Finder = ({ headers: { byName } }) => {
  const values = byName["authorization"];
  if (values === undefined) return undefined;
  if (values.length > 1) return "the header `authorization` is repeated";
  const [value = ""] = values;
  if (!value.includes(",")) return undefined;
  const elements = BEARER.test(value) ? undefined : splitList(value);
  const single = elements?.slice(1).every((element) => PARAMETER.test(element)) === true;
  return single ? undefined : "the header `authorization` has more than one scheme";
};

/** The elements of a list, ignoring commas in quoted strings; `undefined` if the quoting is ambiguous. */
function splitList(value: string): string[] | undefined {
  const elements: string[] = [];
  let start = 0;
  let quoted = false;
  for (let index = 0; index < value.length; index += 1) {
    const character = value[index];
    if (character === '"') quoted = !quoted;
    else if (character === "\\") {
      if (!quoted) return undefined;
      index += 1;
    } else if (character === "," && !quoted) {
      elements.push(value.slice(start, index));
      start = index + 1;
    }
  }
  return quoted ? undefined : [...elements, value.slice(start)];
}

const CONNECTION_OPTIONS = new Set(["", "close", "keep-alive", "upgrade", "te", "http2-settings"]);

/**
 * RFC 9110, section 7.6.1: headers named by Connection are for the next hop only, which removes them. If it names an
 * end-to-end header, we see a header that the application never receives.
 */
export const hopByHopHeader: Finder = ({ headers: { byName } }) => {
  const values = byName["connection"];
  if (values === undefined) return undefined;
  for (const value of values) {
    for (const option of value.toLowerCase().split(",")) {
      if (!CONNECTION_OPTIONS.has(option.trim())) {
        return `the header \`connection\` names ${quotedAscii(option.trim())}`;
      }
    }
  }
  return undefined;
};
