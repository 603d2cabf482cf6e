/** A customer whose provider may say anything: for tests of something else. */
export const ANY_CLAIMS = {
  allowed_roles: ["*"],
  allowed_permissions: ["*"],
  allowed_groups: ["*"],
  allowed_claims: ["*"],
} as const;
