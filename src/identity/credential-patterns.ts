import type { ExtractOptions } from "./extract-token.ts";

/** A header that may hold a token, and what its whole value is like where it does. */
export interface CredentialPattern {
  readonly header: string;
  /** As JavaScript and RE2 read it. */
  readonly pattern: string;
}

/**
 * Where `extractToken` may find a token, for Envoy: each header that it takes one from matches, and none in which it finds
 * nothing. Coarser about what is malformed: Envoy takes no expression of more than about 100 instructions, which only the
 * cookie's name adds to (`LONGEST_COOKIE_NAME`).
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
