import type { Finder } from "./check.ts";

/** At most 15 digits: exact in a double, and larger than any real body. */
const LENGTH = /^[0-9]{1,15}$/;

/** CGI servers read these like the names with `-`. They get here only if `underscore_header` is switched off. */
const DISGUISED = new Set(["content_length", "transfer_encoding"]);

/**
 * RFC 9112, section 6.3: if two parsers see different ends of a message, one of them reads the rest as another request.
 */
export const conflictingContentLength: Finder = ({ raw, headers: { byName } }) => {
  const lengths = byName["content-length"];
  const codings = byName["transfer-encoding"];
  if (lengths !== undefined) {
    if (lengths.length > 1) return "the header `content-length` is repeated";
    if (!lengths.every((length) => LENGTH.test(length))) return "the header `content-length` is not a number";
    if (codings !== undefined) return "both `content-length` and `transfer-encoding`";
  }
  const disguised = Object.keys(byName).find((name) => DISGUISED.has(name));
  if (disguised !== undefined) return `the header \`${disguised}\`, which some servers use for framing`;
  if (codings === undefined) return undefined;
  if (!raw.protocol.startsWith("HTTP/1")) return "`transfer-encoding` in HTTP/2 (RFC 9113, section 8.2.2)";
  if (raw.protocol === "HTTP/1.0") return "`transfer-encoding` in HTTP/1.0 (RFC 9112, section 6.1)";
  const [coding, ...others] = codings;
  return others.length === 0 && coding?.toLowerCase() === "chunked"
    ? undefined
    : "the header `transfer-encoding` has a value other than `chunked`";
};
