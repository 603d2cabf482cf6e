import type { ExtractOptions } from "./extract-token.ts";
import { PROTOCOL_HEADER, tokenHeaders } from "./token-sources.ts";

/** A header that may contain a token, and a pattern of its whole value if it does. */
export interface CredentialPattern {
  readonly header: string;
  /** Valid in both JavaScript and RE2. */
  readonly pattern: string;
}

/**
 * Tells Envoy where `extractToken` may find a token: every header from which it extracts one matches, and none in which it
 * finds nothing. Malformed values are matched less precisely, because Envoy accepts no expression of more than about 100
 * instructions; only the cookie's name adds to their number (`LONGEST_COOKIE_NAME`).
 */
export function credentialPatterns(options: ExtractOptions): readonly CredentialPattern[] {
  const { trustedProxy, cookie, websocketProtocol: prefix } = options;
  const patterns = [{ header: "authorization", pattern: "[ \\t]*[Bb][Ee][Aa][Rr][Ee][Rr] +[!-~].*" }];
  if (trustedProxy) patterns.push({ header: "x-user-token", pattern: "[ \\t]*[!-~].*" });
  for (const header of tokenHeaders(options)) patterns.push({ header, pattern: "[ \\t]*[!-~].*" });
  if (prefix !== undefined)
    patterns.push({ header: PROTOCOL_HEADER, pattern: `(?:.*,)?[ \\t]*${escaped(prefix)}.*` });
  if (cookie !== undefined) {
    const name = escaped(cookie);
    patterns.push({ header: "cookie", pattern: `(?:.*;)?[ \\t]*${name}="?[!#-:<>-~].*` });
  }
  return patterns;
}

function escaped(name: string): string {
  return name.replace(/[$*+.^|]/g, "\\$&");
}

/** Longest name of the cookie, and longest prefix of the subprotocol. */
export const LONGEST_COOKIE_NAME = 64;
