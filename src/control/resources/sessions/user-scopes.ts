/**
 * The claims that the UserInfo endpoint returns for each scope of a user's token (OpenID Connect Core 1.0, section
 * 5.4).
 */
export const CLAIMS_OF_SCOPES = {
  openid: ["sub"],
  profile: ["name", "updated_at"],
  email: ["email"],
  groups: ["groups"],
} as const satisfies Record<string, readonly string[]>;

/**
 * The scope of a user's tokens: those of the scopes requested from the provider that have a meaning here. All others
 * are between us and the provider, in words that a customer's own key chooses: in our tokens they would be the scopes
 * by which machine clients are authorized (RFC 6749, section 3.3: the server may ignore part of a requested scope).
 */
export function userScope(asked: string): string {
  return asked
    .split(" ")
    .filter((scope) => Object.hasOwn(CLAIMS_OF_SCOPES, scope))
    .join(" ");
}
