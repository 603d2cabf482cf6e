/** The state of a customer: everything about it that matters to its users' requests. */
export interface CustomerState {
  readonly id: string;
  readonly status: "active" | "suspended" | "archived" | "deleted";
  readonly authentication: AuthenticationRules;
  /** Names of the policy sets that its users' requests must satisfy in addition to the gateway's own. */
  readonly policy_sets: readonly string[];
}

/** The requirements of one `authentication` policy. */
export interface AuthenticationConditions {
  readonly mfa_required?: boolean;
  /** Maximum time since authentication, in seconds. */
  readonly max_session_duration?: number;
  readonly allowed_email_domains?: readonly string[];
  readonly allowed_ip_ranges?: readonly string[];
}

/** The `authentication` policies of a customer combined: the strictest applies. */
export interface AuthenticationRules {
  readonly mfa_required: boolean;
  /** Values of `acr` that count as multi-factor authentication in addition to `amr`; present if that is required. */
  readonly mfa_acr_values?: readonly string[];
  /** Maximum time since authentication, in seconds. */
  readonly max_session_duration?: number;
  /** One list per policy; each must contain the domain. */
  readonly allowed_email_domains: readonly (readonly string[])[];
  /** One list per policy; a range in each must contain the address. */
  readonly allowed_ip_ranges: readonly (readonly string[])[];
}

/** The facts about a user that the rules check. */
export interface AuthenticationFacts {
  readonly email: string | undefined;
  readonly clientIp: string;
  /** Authentication methods (RFC 8176) from the token or the provider. */
  readonly amr: readonly string[];
  /** Authentication context class (OpenID Connect Core 1.0, section 2) from the token or the provider. */
  readonly acr?: string | undefined;
  /** Unix seconds. */
  readonly authTime: number | undefined;
  /** Unix seconds. */
  readonly now: number;
  /** True for a machine client, which is not a user. */
  readonly machine?: true;
}

/** The violated rule. */
export type Violation =
  "MFA_REQUIRED" | "SESSION_TOO_OLD" | "EMAIL_DOMAIN_NOT_ALLOWED" | "CLIENT_ADDRESS_NOT_ALLOWED";
