import { quotedAscii } from "../../text/index.ts";
import type { Finder } from "./check.ts";

/**
 * RFC 9110, section 5.6.2, without lower-case letters: methods are case-sensitive, but not every stack treats them so.
 */
const METHOD = /^[!#$%&'*+\-.^_`|~0-9A-Z]+$/;
const MAX_METHOD = 64;

/**
 * A method that is not a token, or not in upper case: `get` differs from `GET` (RFC 9110, section 9.1), yet many stacks
 * treat them as equal. CONNECT asks for a tunnel and has no path to check (section 9.3.6); TRACE echoes the request's
 * credentials (section 9.3.8).
 */
export const malformedMethod: Finder = ({ raw: { method } }) => {
  if (method.length > MAX_METHOD) return `a method of ${method.length} characters`;
  if (!METHOD.test(method)) return `the method ${quotedAscii(method)} is not an upper-case token`;
  return method === "CONNECT" || method === "TRACE" ? `the method ${method} is not supported` : undefined;
};
