/** Where a customer stands: what of it matters to every request of its users, wherever that is evaluated. */
export interface CustomerState {
  readonly id: string;
  readonly status: "active" | "suspended" | "archived" | "deleted";
  readonly authentication: AuthenticationRules;
  /** Names of the policy sets that its users' requests must satisfy besides the gateway's own. */
  readonly policy_sets: readonly string[];
}

/** What one `authentication` policy asks for. */
export interface AuthenticationConditions {
  readonly mfa_required?: boolean;
  /** Seconds since the user proved who they are. */
  readonly max_session_duration?: number;
  readonly allowed_email_domains?: readonly string[];
  readonly allowed_ip_ranges?: readonly string[];
}

/** The `authentication` policies of a customer, taken together: the strictest holds. */
export interface AuthenticationRules {
  readonly mfa_required: boolean;
  /** Values of `acr` that count as multi-factor authentication beside `amr`; where that is required. */
  readonly mfa_acr_values?: readonly string[];
  /** Seconds since the user proved who they are. */
  readonly max_session_duration?: number;
  /** One list a policy; each must hold the domain. */
  readonly allowed_email_domains: readonly (readonly string[])[];
  /** One list a policy; a range of each must hold the address. */
  readonly allowed_ip_ranges: readonly (readonly string[])[];
}

/** What a user is evaluated by. */
export interface AuthenticationFacts {
  readonly email: string | undefined;
  readonly clientIp: string;
  /** Authentication methods (RFC 8176) that the token or the provider vouches for. */
  readonly amr: readonly string[];
  /** Authentication context class (OpenID Connect Core 1.0, section 2) that they vouch for. */
  readonly acr?: string | undefined;
  /** Unix seconds. */
  readonly authTime: number | undefined;
  /** Unix seconds. */
  readonly now: number;
  /** It is a program by itself, and no user. */
  readonly machine?: true;
}

/** Which rule is violated. */
export type Violation =
  "MFA_REQUIRED" | "SESSION_TOO_OLD" | "EMAIL_DOMAIN_NOT_ALLOWED" | "CLIENT_ADDRESS_NOT_ALLOWED";
