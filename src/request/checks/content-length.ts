import type { Finder } from "./check.ts";

/** At most 15 digits: exact in a double, and more than anybody sends. */
const LENGTH = /^[0-9]{1,15}$/;

/** Read by CGI servers like the names with `-`; seen where `underscore_header` is switched off. */
const DISGUISED = new Set(["content_length", "transfer_encoding"]);

/** RFC 9112, section 6.3: where two messages could end at different bytes, the rest of one becomes a request. */
export const conflictingContentLength: Finder = ({ raw, headers: { byName } }) => {
  const lengths = byName["content-length"];
  const codings = byName["transfer-encoding"];
  if (lengths !== undefined) {
    if (lengths.length > 1) return "the header `content-length` is repeated";
    if (!lengths.every((length) => LENGTH.test(length))) return "the header `content-length` is not a number";
    if (codings !== undefined) return "both `content-length` and `transfer-encoding`";
  }
  const disguised = Object.keys(byName).find((name) => DISGUISED.has(name));
  if (disguised !== undefined) return `the header \`${disguised}\`, which some servers take for framing`;
  if (codings === undefined) return undefined;
  if (!raw.protocol.startsWith("HTTP/1")) return "`transfer-encoding` in HTTP/2 (RFC 9113, section 8.2.2)";
  const [coding, ...others] = codings;
  return others.length === 0 && coding?.toLowerCase() === "chunked"
    ? undefined
    : "the header `transfer-encoding` is not `chunked` alone";
};
