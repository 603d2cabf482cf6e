/** What each scope of a user's token has the UserInfo endpoint answer (OpenID Connect Core 1.0, section 5.4). */
export const CLAIMS_OF_SCOPES = {
  openid: ["sub"],
  profile: ["name", "updated_at"],
  email: ["email"],
  groups: ["groups"],
} as const satisfies Record<string, readonly string[]>;

/**
 * The scope of a user's tokens: of what the provider was asked for, the scopes that mean something here. All others are
 * between us and the provider, in words that a customer's own key chooses: in a token of ours they would be the scopes by
 * which machine clients are authorized (RFC 6749, section 3.3: the server may ignore some of what is asked for).
 */
export function userScope(asked: string): string {
  return asked
    .split(" ")
    .filter((scope) => Object.hasOwn(CLAIMS_OF_SCOPES, scope))
    .join(" ");
}
