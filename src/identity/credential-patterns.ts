import type { ExtractOptions } from "./extract-token.ts";

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
export function credentialPatterns({ trustedProxy, cookie }: ExtractOptions): readonly CredentialPattern[] {
  const patterns = [{ header: "authorization", pattern: "[ \\t]*[Bb][Ee][Aa][Rr][Ee][Rr] +[!-~].*" }];
  if (trustedProxy) patterns.push({ header: "x-user-token", pattern: "[ \\t]*[!-~].*" });
  if (cookie !== undefined) {
    const name = cookie.replace(/[$*+.^|]/g, "\\$&");
    patterns.push({ header: "cookie", pattern: `(?:.*;)?[ \\t]*${name}="?[!#-:<>-~].*` });
  }
  return patterns;
}

export const LONGEST_COOKIE_NAME = 64;
