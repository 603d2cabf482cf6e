// Generated from the OpenAPI document of the control plane: see clients/README.md.

/** Every error code of the API. */
export const ERROR_CODES = [
  "MALFORMED_JSON",
  "INVALID_PARAMETER",
  "INVALID_STATE",
  "MALFORMED_REQUEST",
  "REQUEST_TIMEOUT",
  "HEADERS_TOO_LARGE",
  "UNAUTHORIZED",
  "API_KEY_EXPIRED",
  "API_KEY_ROLLED",
  "API_KEY_REVOKED",
  "WRONG_ENVIRONMENT",
  "INVALID_CREDENTIALS",
  "INVALID_LINK",
  "INVALID_CODE",
  "INVALID_REFRESH_TOKEN",
  "SESSION_ENDED",
  "INSUFFICIENT_SCOPE",
  "INSUFFICIENT_ROLE",
  "CUSTOMER_KEY_NOT_ALLOWED",
  "ADDRESS_NOT_ALLOWED",
  "CSRF_TOKEN_INVALID",
  "CUSTOMER_SUSPENDED",
  "USER_SUSPENDED",
  "POLICY_VIOLATED",
  "NOT_FOUND",
  "INVALID_CUSTOMER",
  "POLICY_NOT_FOUND",
  "BULK_ASSIGNMENT_NOT_FOUND",
  "POLICY_SET_NOT_FOUND",
  "ROLLOUT_NOT_FOUND",
  "USER_NOT_FOUND",
  "SESSION_NOT_FOUND",
  "WEBHOOK_NOT_FOUND",
  "DELIVERY_NOT_FOUND",
  "API_KEY_NOT_FOUND",
  "CLIENT_NOT_FOUND",
  "DASHBOARD_USER_NOT_FOUND",
  "ERASURE_NOT_FOUND",
  "PERSON_NOT_FOUND",
  "IDP_NOT_CONFIGURED",
  "METHOD_NOT_ALLOWED",
  "NOT_ACCEPTABLE",
  "CONFLICT",
  "DUPLICATE",
  "INVALID_TRANSITION",
  "VERSION_IMMUTABLE",
  "IDEMPOTENCY_CONFLICT",
  "PRECONDITION_FAILED",
  "CURSOR_EXPIRED",
  "PAYLOAD_TOO_LARGE",
  "UNSUPPORTED_MEDIA_TYPE",
  "VALIDATION_FAILED",
  "IDEMPOTENCY_KEY_REUSED",
  "RETURN_URL_NOT_ALLOWED",
  "IDP_UNREACHABLE",
  "TARGET_NOT_ALLOWED",
  "POLICY_SET_INVALID",
  "POLICY_SET_NOT_ACTIVE",
  "RATE_LIMIT_EXCEEDED",
  "INTERNAL_ERROR",
  "IDP_FAILED",
  "SERVICE_UNAVAILABLE",
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

export interface Meta {
  timestamp: string;
  request_id: string;
}

export interface Pagination {
  current_page: number;
  total_pages: number;
  total_items: number;
  page_size: number;
}

export interface Warning {
  code:
    | "NOT_USED_IN_SANDBOX"
    | "MFA_NOT_ANNOUNCED"
    | "AUTH_TIME_NOT_ANNOUNCED"
    | "POLICY_NOT_ASSIGNED"
    | "SHORT_SECRET"
    | "NOT_BASE64"
    | "INVISIBLE_CHARACTERS";
  message: string;
  /** The policy that requires it. */
  policy_id?: string;
  /** The number of its customers that are affected. */
  customers?: number;
}

export interface SignInRequest {
  customer_id: string;
  return_url: string;
  scopes?: string[];
  login_hint?: string;
  /** Classes of authentication, in order of preference, as in the `acr_values` of a challenge. Where a policy requires several factors, only classes that satisfy it are requested. */
  acr_values?: string;
  prompt?: "none" | "login" | "consent" | "select_account";
  /** maximum time since the user authenticated, in seconds; a stricter policy takes precedence */
  max_age?: number;
}

export interface StartedSignIn {
  authorization_url: string;
  state: string;
  expires_in: number;
}

export interface CodeExchange {
  grant_type?: "authorization_code";
  code: string;
  customer_id?: string;
  state?: string;
  return_url?: string;
}

export interface Tokens {
  access_token: string;
  token_type: "Bearer";
  expires_in: number;
  refresh_token: string;
  refresh_expires_in: number;
  scope: string;
  /** for scope `openid`: the ID token, also the hint for `/oauth2/logout` */
  id_token?: string;
  user: SignedInUser;
  session: TokenSession;
}

export interface SignedInUser {
  id: string;
  email: string | null;
  name: string | null;
  customer_id: string;
  role: unknown;
  department: unknown;
  permissions: unknown;
  [name: string]: unknown;
}

export interface TokenSession {
  id: string;
  customer_id: string;
  user_id: string;
  created_at: string;
  expires_at: string;
  auth_time: string | null;
  amr: string[];
  acr: string | null;
  ip_address: string;
  user_agent: string;
}

export interface TokenRefresh {
  grant_type?: "refresh_token";
  refresh_token: string;
}

export interface LogoutRequest {
  session_id?: string;
  user_id?: string;
  customer_id?: string;
  post_logout_return_url?: string;
  state?: string;
  refresh_token?: string;
}

export interface Logout {
  /** the number of sessions that this request ended */
  ended: number;
  /** where to send the browser to also end its session at the identity provider */
  end_session_url?: string;
}

export interface IdpTestRequest {
  /** An ID token of the provider, to try the claim mapping on. Its signature is not checked. */
  token?: string;
}

export interface IdpTest {
  steps: {
    step: "discovery" | "issuer" | "endpoints" | "code_flow" | "pkce" | "signing_keys" | "client";
    status: "passed" | "failed" | "skipped";
    /** A code, of a failed step. */
    reason: string | null;
  }[];
  identity: {
    subject: string;
    email: string | null;
    name: string | null;
    amr: string[];
    acr: string | null;
    /** What access tokens would contain. */
    attributes: Record<string, unknown>;
    /** What the customer's lists, such as `allowed_roles`, do not permit. */
    not_permitted: DroppedClaim[];
    /** Mapped claims of a form or size that is not accepted. */
    unusable: string[];
  } | null;
}

export interface DroppedClaim {
  claim: string;
  /** the first 20, shortened */
  values: string[];
  /** the total number */
  count: number;
  /** in words */
  reason: string;
}

export interface Session {
  id: string;
  customer_id: string;
  user_id: string;
  /** the application that started the sign-in: the family of its API key */
  client_id: string;
  status: "active" | "expired" | "ended";
  scope: string;
  /** when the user authenticated, according to the provider; or the time of the sign-in, if the provider's metadata show that it never reports it and it was asked to authenticate again (`prompt=login`); `null` if unknown */
  auth_time: string | null;
  /** authentication methods (RFC 8176) */
  amr: string[];
  /** authentication context class, if the provider reports it */
  acr: string | null;
  ip_address: string;
  user_agent: string;
  created_at: string;
  last_used_at: string;
  expires_at: string;
  ended_at: string | null;
  end_reason:
    | "logout"
    | "revoked"
    | "user_suspended"
    | "user_deleted"
    | "customer_suspended"
    | "customer_archived"
    | "customer_deleted"
    | "refresh_reuse"
    | "code_reuse"
    | "session_too_old"
    | "session_limit"
    | null;
}

export interface Customer {
  id: string;
  external_id: string | null;
  name: string;
  status: "active" | "suspended" | "archived";
  allowed_return_urls: string[];
  metadata: Record<string, unknown>;
  allowed_roles: string[] | null;
  allowed_permissions: string[] | null;
  allowed_groups: string[] | null;
  allowed_claims: string[] | null;
  role_mapping: Record<string, string[]>;
  created_at: string;
  updated_at: string;
}

export interface NewCustomer {
  name: string;
  external_id?: string | null;
  status?: "active" | "suspended";
  /** Where users may be sent back to after sign-in. */
  allowed_return_urls?: string[];
  metadata?: Record<string, string | number | boolean | null>;
  /** Values of `role` and `roles` that are accepted from the customer's identity provider; all others are dropped. `null`: none (from the sandbox's own provider: any). `["*"]`: any, on the customer's own authority. */
  allowed_roles?: string[] | null;
  /** Entries of `permissions` that are accepted from the customer's identity provider; all others are dropped. `null`: none (from the sandbox's own provider: any). `["*"]`: any, on the customer's own authority. */
  allowed_permissions?: string[] | null;
  /** Entries of `groups` that are accepted from the customer's identity provider; all others are dropped. `null`: none (from the sandbox's own provider: any). `["*"]`: any, on the customer's own authority. */
  allowed_groups?: string[] | null;
  /** Names of further attributes, such as `department`, that are accepted from the customer's identity provider; all others are dropped. `null`: none (from the sandbox's own provider: any). `["*"]`: any, on the customer's own authority. */
  allowed_claims?: ("*" | string)[] | null;
  /** Maps groups of the customer's identity provider to roles that their members have here. Neither needs to be in the lists above: the mapping defines the roles, and the customer decides who is in a group. */
  role_mapping?: Record<string, string[]>;
  /** Policies to assign, besides those with `assign_to_new_customers`. */
  policy_ids?: string[];
}

export interface CustomerUpdate {
  name?: string;
  external_id?: string | null;
  /** Where users may be sent back to after sign-in. */
  allowed_return_urls?: string[];
  metadata?: Record<string, string | number | boolean | null>;
  /** Values of `role` and `roles` that are accepted from the customer's identity provider; all others are dropped. `null`: none (from the sandbox's own provider: any). `["*"]`: any, on the customer's own authority. */
  allowed_roles?: string[] | null;
  /** Entries of `permissions` that are accepted from the customer's identity provider; all others are dropped. `null`: none (from the sandbox's own provider: any). `["*"]`: any, on the customer's own authority. */
  allowed_permissions?: string[] | null;
  /** Entries of `groups` that are accepted from the customer's identity provider; all others are dropped. `null`: none (from the sandbox's own provider: any). `["*"]`: any, on the customer's own authority. */
  allowed_groups?: string[] | null;
  /** Names of further attributes, such as `department`, that are accepted from the customer's identity provider; all others are dropped. `null`: none (from the sandbox's own provider: any). `["*"]`: any, on the customer's own authority. */
  allowed_claims?: ("*" | string)[] | null;
  /** Maps groups of the customer's identity provider to roles that their members have here. Neither needs to be in the lists above: the mapping defines the roles, and the customer decides who is in a group. */
  role_mapping?: Record<string, string[]>;
  status?: "active" | "suspended" | "archived";
}

export interface CustomerPatch {
  name?: string;
  external_id?: string | null;
  /** Where users may be sent back to after sign-in. */
  allowed_return_urls?: string[];
  /** Merged with the current value (RFC 7396): other members stay, and `null` removes one. */
  metadata?: Record<string, unknown>;
  /** Values of `role` and `roles` that are accepted from the customer's identity provider; all others are dropped. `null`: none (from the sandbox's own provider: any). `["*"]`: any, on the customer's own authority. */
  allowed_roles?: string[] | null;
  /** Entries of `permissions` that are accepted from the customer's identity provider; all others are dropped. `null`: none (from the sandbox's own provider: any). `["*"]`: any, on the customer's own authority. */
  allowed_permissions?: string[] | null;
  /** Entries of `groups` that are accepted from the customer's identity provider; all others are dropped. `null`: none (from the sandbox's own provider: any). `["*"]`: any, on the customer's own authority. */
  allowed_groups?: string[] | null;
  /** Names of further attributes, such as `department`, that are accepted from the customer's identity provider; all others are dropped. `null`: none (from the sandbox's own provider: any). `["*"]`: any, on the customer's own authority. */
  allowed_claims?: ("*" | string)[] | null;
  /** Merged with the current value (RFC 7396): other members stay, and `null` removes one. */
  role_mapping?: Record<string, unknown>;
  status?: "active" | "suspended" | "archived";
}

export interface DeletedCustomer {
  id: string;
  deleted: true;
}

export interface IdentityProvider {
  customer_id: string;
  type: "oidc" | "okta" | "auth0" | "entra" | "google" | "keycloak";
  domain: string;
  issuer: string;
  tenant: string | null;
  realm: string | null;
  client_id: string;
  client_secret_set: true;
  scopes: string[];
  claims: Record<string, string>;
  /** The values in effect. */
  mfa_acr_values: string[];
  verified_at: string | null;
  created_at: string;
  updated_at: string;
}

export interface NewIdentityProvider {
  type: "oidc" | "okta" | "auth0" | "entra" | "google" | "keycloak";
  /** The provider's host, such as `acme.okta.com`, with the port if it is not 443. */
  domain: string;
  client_id: string;
  /** Stored encrypted and never returned. */
  client_secret: string;
  /** Scopes to request from the provider; `openid` is always included. Users' tokens contain at most `openid`, `profile`, `email` and `groups` of them. */
  scopes?: string[];
  /** For a provider at `domain` whose issuer differs from the usual one of its type: `https://acme.okta.com/oauth2/default`. */
  issuer?: string;
  /** For type `entra`: the directory's id. If omitted, it is discovered from `domain`. */
  tenant?: string;
  /** For type `keycloak`, unless `issuer` is given. */
  realm?: string;
  /** Maps our attribute names to the provider's claims, such as `role` to `app.role`. Names of claims that access tokens set themselves, such as `scope` and `sid`, are refused. The provider's values for the others count only as far as the customer's `allowed_roles`, `allowed_claims` and other lists permit. */
  claims?: Record<string, string>;
  /** Values of the claim `acr` with which this provider confirms several factors. In addition to `amr`, they satisfy `mfa_required`, and they are requested. Default: the documented values for Okta and Auth0; none for other types. */
  mfa_acr_values?: string[];
  /** Whether to verify the configuration against the provider's discovery document before it is stored. Ignored in the sandbox. */
  verify?: boolean;
}

export interface DeletedIdentityProvider {
  customer_id: string;
  deleted: true;
}

export interface User {
  id: string;
  customer_id: string;
  /** the identity provider; null until the first sign-in */
  issuer: string | null;
  subject: string;
  email: string | null;
  name: string | null;
  status: "active" | "suspended";
  /** the identity provider's claims about the user, as far as they are accepted */
  profile: Record<string, unknown>;
  /** claims of the last sign-in that the customer's current lists do not accept */
  dropped_claims: DroppedClaim[];
  /** set by administrators; they override the profile and need no list */
  attributes: Record<string, unknown>;
  /** what conditions read as `user` and tokens contain */
  effective_attributes: Record<string, unknown>;
  created_at: string;
  updated_at: string;
  last_sign_in_at: string | null;
}

export interface NewUser {
  /** the user's `sub` at the customer's identity provider */
  subject: string;
  email?: string;
  name?: string;
  attributes?: Record<string, string | number | boolean | string[]>;
}

export interface UserUpdate {
  status?: "active" | "suspended";
  /** replaces all attributes that were set before */
  attributes?: Record<string, string | number | boolean | string[]>;
}

export interface UserPatch {
  status?: "active" | "suspended";
  /** Merged with the current value (RFC 7396): other members stay, and `null` removes one. */
  attributes?: Record<string, unknown>;
}

export interface DeletedUser {
  id: string;
  deleted: true;
}

export interface UserExport {
  exported_at: string;
  user: {
    id: string;
    customer_id: string;
    /** the identity provider; null until the first sign-in */
    issuer: string | null;
    subject: string;
    email: string | null;
    name: string | null;
    status: "active" | "suspended";
    /** the identity provider's claims about the user, as far as they are accepted */
    profile: Record<string, unknown>;
    /** claims of the last sign-in that the customer's current lists do not accept */
    dropped_claims: DroppedClaim[];
    /** set by administrators; they override the profile and need no list */
    attributes: Record<string, unknown>;
    /** what conditions read as `user` and tokens contain */
    effective_attributes: Record<string, unknown>;
    created_at: string;
    updated_at: string;
    last_sign_in_at: string | null;
    /** All claims of the identity provider at `claimed_at`; `null` if they are those in `profile`. */
    claimed: Record<string, unknown> | null;
    /** If it differs from `last_sign_in_at`, `profile` has all claims of the last sign-in. */
    claimed_at: string | null;
  };
  activity: {
    requests: number;
    denied: number;
    sign_ins: number;
    first_seen_at: string;
    last_seen_at: string;
  } | null;
  sessions: Session[];
  events: Event[];
  /** sign-ins refused before the user existed, found by the `sub` of the identity provider */
  refusals: Event[];
  /** decisions on the user's requests, and their outcomes; without `trace` and `detail`, which may contain data about others, and with the e-mail addresses of others as `***` */
  decisions: AuditRecord[];
  /** changes to the user and to their sessions; the person or key that made a change is identified only by id */
  changes: AuditRecord[];
}

export interface Event {
  id: string;
  type:
    | "user.authenticated"
    | "user.authentication_failed"
    | "user.logged_out"
    | "user.deleted"
    | "session.revoked"
    | "policy.violated"
    | "policy.updated"
    | "policy_set.published"
    | "policy_set.rollout_started"
    | "policy_set.rollout_changed"
    | "policy_set.rollout_promoted"
    | "policy_set.rollout_aborted"
    | "customer.created"
    | "customer.updated"
    | "customer.suspended"
    | "api_key.created"
    | "api_key.revoked"
    | "gateway.lost"
    | "gateway.diverged"
    | "gateway.lagging"
    | "gateway.recovered";
  timestamp: string;
  customer_id: string | null;
  user_id: string | null;
  data: {
    [name: string]: unknown;
  };
}

export type AuditRecord =
  DecisionRecord | OutcomeRecord | ChangeRecord | ShadowRecord | RolloutRecord | RefusedCallRecord;

export interface DecisionRecord {
  kind: "decision";
  timestamp: string;
  customer_id?: string;
  user_id: string;
  /** The API key that sent the record. */
  ingested_by?: string;
  /** The gateway's name for itself. */
  gateway?: string;
  received_at?: string;
  decision_id: string;
  request_id: string;
  resource: string;
  action: string;
  decision: "ALLOW" | "DENY";
  reason: string;
  rule: string | null;
  policy_set: string;
  client_ip: string;
  evaluation_time_us: number;
  [name: string]: unknown;
}

export interface OutcomeRecord {
  kind: "outcome";
  timestamp: string;
  customer_id?: string;
  user_id: string;
  /** The API key that sent the record. */
  ingested_by?: string;
  /** The gateway's name for itself. */
  gateway?: string;
  received_at?: string;
  event: "response" | "connection";
  /** Empty if only `request_id` identifies the decision. */
  decision_id: string;
  request_id?: string;
  [name: string]: unknown;
}

export interface ChangeRecord {
  kind: "change";
  id: string;
  timestamp: string;
  customer_id?: string;
  user_id: string;
  request_id: string;
  action: string;
  actor: ActorReference;
  target: {
    type: string;
    id: string;
  };
  before?: Record<string, unknown>;
  after?: Record<string, unknown>;
  client_ip: string;
}

export interface ActorReference {
  kind: string;
  id: string;
  name?: string;
}

export interface ShadowRecord {
  kind: "shadow";
  id: string;
  timestamp: string;
  customer_id?: string;
  user_id: string;
  /** The API key that sent the record. */
  ingested_by?: string;
  /** The gateway's name for itself. */
  gateway?: string;
  received_at?: string;
  request_id: string;
  resource: string;
  action: string;
  /** What the candidate would do. */
  difference: "denies" | "allows" | "plan";
  rule: string | null;
  policy_set: string;
  candidate_decision: "ALLOW" | "DENY";
  [name: string]: unknown;
}

export interface RolloutRecord {
  kind: "rollout";
  decision_id: string;
  timestamp: string;
  /** The API key that sent the record. */
  ingested_by?: string;
  /** The gateway's name for itself. */
  gateway?: string;
  received_at?: string;
  change: string;
  policy_set: string;
  [name: string]: unknown;
}

export interface RefusedCallRecord {
  kind: "refused_call";
  id: string;
  timestamp: string;
  customer_id?: string;
  user_id: string;
  request_id: string;
  /** `id` is empty if it is not known who called. */
  actor: {
    kind: string;
    id: string;
  };
  /** As in this document; `oauth` or `other` outside of it. */
  operation: string;
  method: string;
  /** With those parameters that are ids; empty outside of this document. */
  path: string;
  status: number;
  code: string;
  client_ip: string;
  /** Number of refused calls that the record stands for, if the caller had too many for a record each; the last of them is described. */
  calls?: number;
}

export interface Erasure {
  /** id of the deleted user, customer or dashboard user */
  id: string;
  kind: "user" | "customer" | "dashboard_user";
  customer_id: string | null;
  status: "running" | "finished";
  requested_at: string;
  finished_at: string | null;
  /** rows processed so far; records are those of the audit trail */
  progress: {
    users: number;
    sessions: number;
    events: number;
    records: number;
  };
  /** why it is not progressing; `null` if the last attempt succeeded */
  failure: {
    /** the step that failed */
    step:
      | "users"
      | "sessions"
      | "events"
      | "refusals"
      | "deliveries"
      | "records"
      | "changes"
      | "user_events"
      | "user_deliveries"
      | "user_records"
      | "acts"
      | "membership"
      | "keys";
    message: string;
    /** consecutive failures */
    attempts: number;
    next_attempt_at: string;
  } | null;
}

export interface Policy {
  id: string;
  name: string;
  description: string;
  type: "authentication" | "authorization";
  status: "active" | "inactive";
  conditions: Record<string, unknown>;
  assign_to_new_customers: boolean;
  created_at: string;
  updated_at: string;
}

export type NewPolicy = NewAuthenticationPolicy | NewAuthorizationPolicy;

export interface NewAuthenticationPolicy {
  name: string;
  description?: string;
  /** An inactive policy stays assigned but is not enforced. */
  status?: "active" | "inactive";
  /** Whether it is assigned to each customer that is created from now on; at most 20 policies are. */
  assign_to_new_customers?: boolean;
  type: "authentication";
  conditions: AuthenticationConditions;
}

export interface AuthenticationConditions {
  mfa_required?: boolean;
  /** Maximum time since the user authenticated, in seconds. */
  max_session_duration?: number;
  allowed_email_domains?: string[];
  /** Addresses, or networks in CIDR notation, that the user's browser must have. */
  allowed_ip_ranges?: string[];
}

export interface NewAuthorizationPolicy {
  name: string;
  description?: string;
  /** An inactive policy stays assigned but is not enforced. */
  status?: "active" | "inactive";
  /** Whether it is assigned to each customer that is created from now on; at most 20 policies are. */
  assign_to_new_customers?: boolean;
  type: "authorization";
  conditions: AuthorizationConditions;
}

export interface AuthorizationConditions {
  /** The name of a published policy set that must also permit the request. */
  policy_set: string;
}

export interface PolicyUpdate {
  name?: string;
  description?: string;
  /** Whether it is assigned to each customer that is created from now on; at most 20 policies are. */
  assign_to_new_customers?: boolean;
  /** An inactive policy stays assigned but is not enforced. */
  status?: "active" | "inactive";
  /** Cannot change. */
  type?: "authentication" | "authorization";
  /** Replaced as a whole; must match the policy's type, see the body of POST /policies. */
  conditions?: {
    [name: string]: unknown;
  };
}

export interface PolicyPatch {
  name?: string;
  description?: string;
  /** Whether it is assigned to each customer that is created from now on; at most 20 policies are. */
  assign_to_new_customers?: boolean;
  /** An inactive policy stays assigned but is not enforced. */
  status?: "active" | "inactive";
  /** Cannot change. */
  type?: "authentication" | "authorization";
  /** Merged with the current value (RFC 7396): other members stay, and `null` removes one. */
  conditions?: Record<string, unknown>;
}

export interface DeletedPolicy {
  id: string;
  deleted: true;
}

export interface AssignedPolicy {
  id: string;
  name: string;
  description: string;
  type: "authentication" | "authorization";
  status: "active" | "inactive";
  conditions: Record<string, unknown>;
  assign_to_new_customers: boolean;
  created_at: string;
  updated_at: string;
  assigned_at: string;
}

export interface PolicyAssignment {
  policy_ids: string[];
}

export interface PolicyUnassignment {
  customer_id: string;
  policy_id: string;
  assigned: false;
}

export interface PolicyImpact {
  /** open sessions that were examined, newest first */
  sessions: number;
  /** false if the customer has more open sessions */
  complete: boolean;
  /** sessions whose requests gateways would refuse; null for an authorization policy, whose set decides on each request */
  refused: number | null;
  /** users of the refused sessions */
  users: number;
  requirements: {
    requirement:
      "MFA_REQUIRED" | "SESSION_TOO_OLD" | "EMAIL_DOMAIN_NOT_ALLOWED" | "CLIENT_ADDRESS_NOT_ALLOWED";
    sessions: number;
  }[];
  /** the newest refused sessions */
  examples: {
    session_id: string;
    user_id: string;
    email: string | null;
    requirement:
      "MFA_REQUIRED" | "SESSION_TOO_OLD" | "EMAIL_DOMAIN_NOT_ALLOWED" | "CLIENT_ADDRESS_NOT_ALLOWED";
  }[];
}

export interface PolicyAssignee {
  id: string;
  name: string;
  status: string;
  assigned_at: string;
}

export interface NewBulkAssignment {
  /** `preview` changes nothing, and counts what `assign` would do. */
  action: "assign" | "unassign" | "preview";
  customers: CustomerSelection;
}

export type CustomerSelection =
  | {
      ids: string[];
    }
  | {
      status: "active" | "suspended" | "archived";
    }
  | {
      all: true;
    };

export interface BulkAssignment {
  id: string;
  policy_id: string;
  action: "assign" | "unassign" | "preview";
  customers:
    | {
        /** how many were named */
        ids: number;
      }
    | {
        status: string;
      }
    | {
        all: true;
      };
  status: "running" | "finished" | "cancelled" | "failed";
  /** why it failed as a whole; what was done until then stays */
  problem: string | null;
  requested_by: ActorReference;
  requested_at: string;
  ended_at: string | null;
  progress: {
    /** customers that were selected */
    total: number;
    /** customers that were looked at */
    done: number;
    /** customers that got or lost the policy; for a preview: that would get it */
    changed: number;
    failed: number;
  };
  /** the first 100 customers that it failed for */
  failures: {
    customer_id: string;
    code: string;
    message: string;
  }[];
  /** of a preview: who would be locked out */
  impact: {
    /** open sessions that were examined */
    sessions: number;
    /** false if a customer has more open sessions than are examined */
    complete: boolean;
    /** of these, refused by gateways; null for an authorization policy */
    refused: number | null;
    /** customers with such sessions */
    customers: number;
    /** the 100 customers with the most */
    examples: {
      customer_id: string;
      sessions: number;
      refused: number;
      requirements: {
        requirement:
          "MFA_REQUIRED" | "SESSION_TOO_OLD" | "EMAIL_DOMAIN_NOT_ALLOWED" | "CLIENT_ADDRESS_NOT_ALLOWED";
        sessions: number;
      }[];
    }[];
  } | null;
}

export interface PolicySet {
  name: string;
  /** what gateways enforce */
  active_version: string | null;
  active_digest: string | null;
  activated_at: string | null;
  /** the version that a rollback activates */
  previous_version: string | null;
  /** the number of published versions */
  versions: number;
  /** the rollout that runs */
  rollout: {
    id: string;
    version: string;
    mode: "shadow" | "enforce";
    /** of the callers for whom the candidate decides */
    percentage: number;
  } | null;
  created_at: string;
  updated_at: string;
}

export interface PolicySetToValidate {
  name?: string;
  files: PolicyFile[];
}

export interface PolicyFile {
  name: string;
  text: string;
}

export interface PolicySetValidation {
  valid: boolean;
  name?: string;
  version?: string;
  digest?: string;
  rules?: number;
  diagnostics: Diagnostic[];
  /** the diagnostics as the command line prints them */
  rendered: string;
}

export interface Diagnostic {
  severity: "error" | "warning";
  code: string;
  message: string;
  file: string;
  line: number;
  column: number;
  length: number;
  hint?: string;
}

export interface NewPolicySetVersion {
  name: string;
  files: PolicyFile[];
  activate?: boolean;
}

export interface PolicySetVersion {
  name: string;
  version: string;
  /** sha256 of the set's meaning, without layout and comments */
  digest: string;
  rules: number;
  active: boolean;
  /** warnings */
  diagnostics: Diagnostic[];
  published_at: string;
  published_by: ActorReference;
}

export interface PolicySetVersionWithFiles {
  name: string;
  version: string;
  /** sha256 of the set's meaning, without layout and comments */
  digest: string;
  rules: number;
  active: boolean;
  /** warnings */
  diagnostics: Diagnostic[];
  published_at: string;
  published_by: ActorReference;
  files: {
    name: string;
    text: string;
  }[];
}

export interface PolicySetActivation {
  version: string;
}

export interface RolloutProgress {
  id: string;
  policy_set: string;
  state: "running" | "promoted" | "aborted";
  /** counts the changes of its terms */
  revision: number;
  /** what was active when it began */
  stable: RolloutVersion;
  candidate: RolloutVersion;
  mode: "shadow" | "enforce";
  /** in effect: 0 in shadow mode, else that of the present step */
  percentage: number;
  steps: number[];
  step_pause_seconds: number;
  sticky_by: "user" | "customer" | "client_ip";
  guard: {
    window_seconds: number;
    min_requests: number;
    denial_increase: number;
    error_increase: number;
    slowdown: number;
    ignored_callers: number;
  } | null;
  started_at: string;
  started_by: ActorReference;
  /** when its present terms took effect */
  changed_at: string;
  ended_at: string | null;
  ended_by: ActorReference | null;
  /** why it was aborted */
  cause: "operator" | "denials" | "errors" | "slow" | null;
  detail: string | null;
  /** what the guard sees now; null in shadow mode, without a guard, and after the end */
  comparison: {
    outcome: "ok" | "inconclusive" | "worse";
    cause?: "denials" | "errors" | "slow";
    detail?: string;
  } | null;
  /** decisions of all gateways within the guard's window */
  window: RolloutArms;
  /** decisions of all gateways since each of them has the candidate */
  totals: RolloutArms;
  shadow: {
    same: number;
    different: number;
    failed: number;
    dropped: number;
    rules: {
      difference: "denies" | "allows" | "plan";
      rule: string;
      count: number;
    }[];
  };
  gateways: {
    id: string;
    key: string;
    /** the terms that it follows */
    revision: number;
    last_seen_at: string;
    /** it has taken the candidate back by itself */
    taken_back: {
      cause: "denials" | "errors" | "slow";
      detail: string;
    } | null;
  }[];
}

export interface RolloutVersion {
  version: string;
  digest: string;
}

export interface RolloutArm {
  decisions: number;
  denials: number;
  errors: number;
  /** 99th percentile of the time of a decision */
  p99_ms: number;
}

export interface RolloutArms {
  stable: RolloutArm;
  candidate: RolloutArm;
}

export interface Rollout {
  id: string;
  policy_set: string;
  state: "running" | "promoted" | "aborted";
  /** counts the changes of its terms */
  revision: number;
  /** what was active when it began */
  stable: RolloutVersion;
  candidate: RolloutVersion;
  mode: "shadow" | "enforce";
  /** in effect: 0 in shadow mode, else that of the present step */
  percentage: number;
  steps: number[];
  step_pause_seconds: number;
  sticky_by: "user" | "customer" | "client_ip";
  guard: {
    window_seconds: number;
    min_requests: number;
    denial_increase: number;
    error_increase: number;
    slowdown: number;
    ignored_callers: number;
  } | null;
  started_at: string;
  started_by: ActorReference;
  /** when its present terms took effect */
  changed_at: string;
  ended_at: string | null;
  ended_by: ActorReference | null;
  /** why it was aborted */
  cause: "operator" | "denials" | "errors" | "slow" | null;
  detail: string | null;
}

export interface NewRollout {
  /** The candidate: a published version that is not active. */
  version: string;
  mode?: "shadow" | "enforce";
  /** The part of the callers for whom the candidate decides, in mode `enforce`. Default: 0. */
  percentage?: number;
  /** Percentages through which the candidate goes up by itself, instead of `percentage`. */
  steps?: number[];
  /** Time at each step. The next one begins only after the guard could compare the versions. */
  step_pause_seconds?: number;
  sticky_by?: "user" | "customer" | "client_ip";
  /** Takes a candidate back that does worse than the active version; null: nothing is compared. */
  guard?: NewRolloutGuard | null;
}

export interface NewRolloutGuard {
  window_seconds?: number;
  min_requests?: number;
  denial_increase?: number;
  error_increase?: number;
  slowdown?: number;
  /** What this many callers of each version do alone does not count: those who were denied most, or whose decisions took longest. With 0, every caller counts. */
  ignored_callers?: number;
}

export interface RolloutAbort {
  /** Why, for people. */
  detail?: string;
}

export interface RolloutReport {
  gateway: string;
  rollout: string;
  revision: number;
  samples: {
    stable: {
      decisions: number;
      denials: number;
      errors: number;
      durations: number[];
      heaviest: {
        caller: string;
        decisions: number;
        denials: number;
        errors: number;
        slow: number;
      }[];
    };
    candidate: {
      decisions: number;
      denials: number;
      errors: number;
      durations: number[];
      heaviest: {
        caller: string;
        decisions: number;
        denials: number;
        errors: number;
        slow: number;
      }[];
    };
  };
  totals: {
    stable: {
      decisions: number;
      denials: number;
      errors: number;
      durations: number[];
      heaviest: {
        caller: string;
        decisions: number;
        denials: number;
        errors: number;
        slow: number;
      }[];
    };
    candidate: {
      decisions: number;
      denials: number;
      errors: number;
      durations: number[];
      heaviest: {
        caller: string;
        decisions: number;
        denials: number;
        errors: number;
        slow: number;
      }[];
    };
  };
  shadow: {
    same: number;
    different: number;
    failed: number;
    dropped: number;
    rules: {
      difference: "denies" | "allows" | "plan";
      rule: string;
      count: number;
    }[];
  } | null;
  taken_back: {
    cause: "denials" | "errors" | "slow";
    detail: string;
  } | null;
}

export interface TakenRolloutReport {
  running: boolean;
  report_after_ms: number;
}

export interface Analytics {
  from: string;
  to: string;
  interval: "minute" | "hour" | "day";
  customer_id: string | null;
  requests: {
    total: number;
    allowed: number;
    denied: number;
  };
  by_reason: {
    decision: "ALLOW" | "DENY";
    reason: string;
    requests: number;
  }[];
  by_resource: {
    top: {
      resource: string | null;
      requests: number;
      denied: number;
    }[];
    other: {
      requests: number;
      denied: number;
    };
  };
  /** null for a single customer. */
  by_customer: {
    top: {
      customer_id: string | null;
      requests: number;
      denied: number;
    }[];
    other: {
      requests: number;
      denied: number;
    };
  } | null;
  over_time: {
    start: string;
    requests: number;
    allowed: number;
    denied: number;
    sign_ins: number;
    failures: number;
  }[];
  sign_ins: {
    succeeded: number;
    failed: number;
    signed_out: number;
  };
  policy_violations: number;
  users: {
    active: number;
    last_day: number;
    last_week: number;
    last_month: number;
  };
  sessions: {
    active: number;
  };
  /** Of decisions, at most 9 % too high; null for a single customer. */
  latency: {
    measured: number;
    p50_ms: number | null;
    p95_ms: number | null;
    p99_ms: number | null;
  } | null;
  /** Of gateways; null for a single customer. */
  caches:
    | {
        name: string;
        hits: number;
        misses: number;
        evictions: number;
        hit_rate: number | null;
        eviction_rate: number | null;
      }[]
    | null;
  /** As reported by gateways; null for a single customer. */
  audit: {
    decided: number;
    recorded: number;
    dropped: number;
  } | null;
}

export interface EventFeed {
  events: Event[];
  /** The `after` of the next call. */
  cursor: string;
  /** There may be more already: continue at once, even if `events` is empty. */
  more: boolean;
  /** The time of the oldest event that cannot be shown yet, because a transaction that began before its own has not ended. */
  waiting_since: string | null;
}

export interface UserActivity {
  user_id: string;
  customer_id: string | null;
  email: string | null;
  name: string | null;
  requests: number;
  denied: number;
  sign_ins: number;
  first_seen_at: string;
  last_seen_at: string;
  /** Of the last 30 days (UTC), today included. */
  recent: {
    requests: number;
    denied: number;
    sign_ins: number;
  };
}

export interface Webhook {
  id: string;
  customer_id: string | null;
  url: string;
  description: string | null;
  events: (
    | "user.authenticated"
    | "user.authentication_failed"
    | "user.logged_out"
    | "user.deleted"
    | "session.revoked"
    | "policy.violated"
    | "policy.updated"
    | "policy_set.published"
    | "policy_set.rollout_started"
    | "policy_set.rollout_changed"
    | "policy_set.rollout_promoted"
    | "policy_set.rollout_aborted"
    | "customer.created"
    | "customer.updated"
    | "customer.suspended"
    | "api_key.created"
    | "api_key.revoked"
    | "gateway.lost"
    | "gateway.diverged"
    | "gateway.lagging"
    | "gateway.recovered"
    | "*"
  )[];
  enabled: boolean;
  disabled_reason: "requested" | "failing" | "gone" | "customer_deleted" | null;
  disabled_at: string | null;
  previous_secret_expires_at: string | null;
  /** set if the receiver does not respond: nothing is sent until then, when one delivery is tried */
  paused_until: string | null;
  created_at: string;
  updated_at: string;
}

export interface NewWebhook {
  url: string;
  /** event types, or `*` for all, alone or in the list */
  events:
    | "*"
    | (
        | "user.authenticated"
        | "user.authentication_failed"
        | "user.logged_out"
        | "user.deleted"
        | "session.revoked"
        | "policy.violated"
        | "policy.updated"
        | "policy_set.published"
        | "policy_set.rollout_started"
        | "policy_set.rollout_changed"
        | "policy_set.rollout_promoted"
        | "policy_set.rollout_aborted"
        | "customer.created"
        | "customer.updated"
        | "customer.suspended"
        | "api_key.created"
        | "api_key.revoked"
        | "gateway.lost"
        | "gateway.diverged"
        | "gateway.lagging"
        | "gateway.recovered"
        | "*"
      )[];
  secret?: string;
  description?: string | null;
  customer_id?: string | null;
  enabled?: boolean;
}

export interface WebhookWithSecret {
  id: string;
  customer_id: string | null;
  url: string;
  description: string | null;
  events: (
    | "user.authenticated"
    | "user.authentication_failed"
    | "user.logged_out"
    | "user.deleted"
    | "session.revoked"
    | "policy.violated"
    | "policy.updated"
    | "policy_set.published"
    | "policy_set.rollout_started"
    | "policy_set.rollout_changed"
    | "policy_set.rollout_promoted"
    | "policy_set.rollout_aborted"
    | "customer.created"
    | "customer.updated"
    | "customer.suspended"
    | "api_key.created"
    | "api_key.revoked"
    | "gateway.lost"
    | "gateway.diverged"
    | "gateway.lagging"
    | "gateway.recovered"
    | "*"
  )[];
  enabled: boolean;
  disabled_reason: "requested" | "failing" | "gone" | "customer_deleted" | null;
  disabled_at: string | null;
  previous_secret_expires_at: string | null;
  /** set if the receiver does not respond: nothing is sent until then, when one delivery is tried */
  paused_until: string | null;
  created_at: string;
  updated_at: string;
  secret: string;
}

export interface WebhookUpdate {
  url?: string;
  /** event types, or `*` for all, alone or in the list */
  events?:
    | "*"
    | (
        | "user.authenticated"
        | "user.authentication_failed"
        | "user.logged_out"
        | "user.deleted"
        | "session.revoked"
        | "policy.violated"
        | "policy.updated"
        | "policy_set.published"
        | "policy_set.rollout_started"
        | "policy_set.rollout_changed"
        | "policy_set.rollout_promoted"
        | "policy_set.rollout_aborted"
        | "customer.created"
        | "customer.updated"
        | "customer.suspended"
        | "api_key.created"
        | "api_key.revoked"
        | "gateway.lost"
        | "gateway.diverged"
        | "gateway.lagging"
        | "gateway.recovered"
        | "*"
      )[];
  description?: string | null;
  enabled?: boolean;
}

export interface DeletedWebhook {
  id: string;
  deleted: true;
}

export interface WebhookSecretRotation {
  secret?: string;
  overlap_seconds?: number;
}

export interface WebhookDelivery {
  id: string;
  webhook_id: string;
  event_id: string;
  event_type:
    | "user.authenticated"
    | "user.authentication_failed"
    | "user.logged_out"
    | "user.deleted"
    | "session.revoked"
    | "policy.violated"
    | "policy.updated"
    | "policy_set.published"
    | "policy_set.rollout_started"
    | "policy_set.rollout_changed"
    | "policy_set.rollout_promoted"
    | "policy_set.rollout_aborted"
    | "customer.created"
    | "customer.updated"
    | "customer.suspended"
    | "api_key.created"
    | "api_key.revoked"
    | "gateway.lost"
    | "gateway.diverged"
    | "gateway.lagging"
    | "gateway.recovered"
    | "webhook.test";
  status: "pending" | "delivering" | "delivered" | "failed" | "cancelled";
  attempts: number;
  created_at: string;
  last_attempt_at: string | null;
  next_attempt_at: string | null;
  finished_at: string | null;
  response_status: number | null;
  response_body: string | null;
  duration_ms: number | null;
  error: string | null;
  cancelled_reason: "webhook_disabled" | "webhook_deleted" | "customer_deleted" | null;
}

export interface WebhookDeliveryWithPayload {
  id: string;
  webhook_id: string;
  event_id: string;
  event_type:
    | "user.authenticated"
    | "user.authentication_failed"
    | "user.logged_out"
    | "user.deleted"
    | "session.revoked"
    | "policy.violated"
    | "policy.updated"
    | "policy_set.published"
    | "policy_set.rollout_started"
    | "policy_set.rollout_changed"
    | "policy_set.rollout_promoted"
    | "policy_set.rollout_aborted"
    | "customer.created"
    | "customer.updated"
    | "customer.suspended"
    | "api_key.created"
    | "api_key.revoked"
    | "gateway.lost"
    | "gateway.diverged"
    | "gateway.lagging"
    | "gateway.recovered"
    | "webhook.test";
  status: "pending" | "delivering" | "delivered" | "failed" | "cancelled";
  attempts: number;
  created_at: string;
  last_attempt_at: string | null;
  next_attempt_at: string | null;
  finished_at: string | null;
  response_status: number | null;
  response_body: string | null;
  duration_ms: number | null;
  error: string | null;
  cancelled_reason: "webhook_disabled" | "webhook_deleted" | "customer_deleted" | null;
  payload: {
    id: string;
    type:
      | "user.authenticated"
      | "user.authentication_failed"
      | "user.logged_out"
      | "user.deleted"
      | "session.revoked"
      | "policy.violated"
      | "policy.updated"
      | "policy_set.published"
      | "policy_set.rollout_started"
      | "policy_set.rollout_changed"
      | "policy_set.rollout_promoted"
      | "policy_set.rollout_aborted"
      | "customer.created"
      | "customer.updated"
      | "customer.suspended"
      | "api_key.created"
      | "api_key.revoked"
      | "gateway.lost"
      | "gateway.diverged"
      | "gateway.lagging"
      | "gateway.recovered"
      | "webhook.test";
    timestamp: string;
    data: Record<string, unknown>;
  };
}

export interface ApiKey {
  id: string;
  name: string;
  scope: "read_only" | "configuration" | "authentication" | "full_access" | "gateway" | "caller";
  environment: "production" | "sandbox";
  customer_id: string | null;
  /** `user.permissions` of a caller. */
  permissions: string[];
  /** From where the key may be used; empty: from everywhere. */
  allowed_addresses: string[];
  /** The last four characters of the key. */
  hint: string;
  status: "active" | "expired" | "revoked";
  created_by: ActorReference;
  created_at: string;
  updated_at: string;
  expires_at: string | null;
  /** Accurate to the minute. */
  last_used_at: string | null;
  revoked_at: string | null;
  /** The first key in the chain of rolled keys, or this one: the `client_id` of the tokens that it requests. */
  family_id: string;
  /** The key that this one replaces. */
  rolled_from: string | null;
  /** The key that replaces this one; this one is refused from `expires_at` on. */
  rolled_to: string | null;
}

export interface NewApiKey {
  name: string;
  scope: "read_only" | "configuration" | "authentication" | "full_access" | "gateway" | "caller";
  /** Limits the key to this customer. */
  customer_id?: string;
  /** Only for the scope `caller`: `user.permissions` in conditions. */
  permissions?: string[];
  /** Addresses, or networks in CIDR notation, from which the key may be used; empty: from everywhere. Not for the scope `caller`. */
  allowed_addresses?: string[];
  expires_at?: string;
}

export interface CreatedApiKey {
  id: string;
  name: string;
  scope: "read_only" | "configuration" | "authentication" | "full_access" | "gateway" | "caller";
  environment: "production" | "sandbox";
  customer_id: string | null;
  /** `user.permissions` of a caller. */
  permissions: string[];
  /** From where the key may be used; empty: from everywhere. */
  allowed_addresses: string[];
  /** The last four characters of the key. */
  hint: string;
  status: "active" | "expired" | "revoked";
  created_by: ActorReference;
  created_at: string;
  updated_at: string;
  expires_at: string | null;
  /** Accurate to the minute. */
  last_used_at: string | null;
  revoked_at: string | null;
  /** The first key in the chain of rolled keys, or this one: the `client_id` of the tokens that it requests. */
  family_id: string;
  /** The key that this one replaces. */
  rolled_from: string | null;
  /** The key that replaces this one; this one is refused from `expires_at` on. */
  rolled_to: string | null;
  /** The key itself, shown only once. */
  key: string;
}

export interface ApiKeyUpdate {
  name?: string;
  /** Addresses, or networks in CIDR notation, from which the key may be used; empty: from everywhere. Not for the scope `caller`. */
  allowed_addresses?: string[];
  expires_at?: string | null;
}

export interface ApiKeyRoll {
  /** Seconds for which the rolled key stays valid; with 0 it is revoked from the next request on. */
  overlap?: number;
}

export interface RolledApiKey {
  id: string;
  name: string;
  scope: "read_only" | "configuration" | "authentication" | "full_access" | "gateway" | "caller";
  environment: "production" | "sandbox";
  customer_id: string | null;
  /** `user.permissions` of a caller. */
  permissions: string[];
  /** From where the key may be used; empty: from everywhere. */
  allowed_addresses: string[];
  /** The last four characters of the key. */
  hint: string;
  status: "active" | "expired" | "revoked";
  created_by: ActorReference;
  created_at: string;
  updated_at: string;
  expires_at: string | null;
  /** Accurate to the minute. */
  last_used_at: string | null;
  revoked_at: string | null;
  /** The first key in the chain of rolled keys, or this one: the `client_id` of the tokens that it requests. */
  family_id: string;
  /** The key that this one replaces. */
  rolled_from: string | null;
  /** The key that replaces this one; this one is refused from `expires_at` on. */
  rolled_to: string | null;
  /** The key itself, shown only once. */
  key: string;
  previous: ApiKey;
}

export interface Client {
  /** The `client_id`, and `sub` of its tokens. */
  id: string;
  name: string;
  customer_id: string | null;
  scopes: string[];
  /** The last four characters of the secret. */
  hint: string;
  previous_secret_expires_at: string | null;
  created_by: ActorReference;
  created_at: string;
  updated_at: string;
  /** Accurate to the minute. */
  last_used_at: string | null;
}

export interface NewClient {
  name: string;
  /** The customer that the client acts for: `customer_id` of its tokens. Optional. */
  customer_id?: string;
  /** The scopes that it may request; without `scope`, a token gets all of them. */
  scopes?: string[];
}

export interface ClientWithSecret {
  /** The `client_id`, and `sub` of its tokens. */
  id: string;
  name: string;
  customer_id: string | null;
  scopes: string[];
  /** The last four characters of the secret. */
  hint: string;
  previous_secret_expires_at: string | null;
  created_by: ActorReference;
  created_at: string;
  updated_at: string;
  /** Accurate to the minute. */
  last_used_at: string | null;
  /** The secret itself, shown only once. */
  client_secret: string;
}

export interface ClientUpdate {
  name?: string;
  scopes?: string[];
}

export interface DeletedClient {
  id: string;
}

export interface ClientSecretRotation {
  /** How long the old secret stays valid next to the new one. With 0 it is refused at once, and so are existing tokens. */
  overlap_seconds?: number;
}

export interface Setup {
  token: string;
  email: string;
  name: string;
  password: string;
}

export interface DashboardUser {
  id: string;
  email: string;
  name: string;
  role: "owner" | "admin" | "viewer";
  /** `invited` means that the user has not set a password yet. */
  status: "active" | "invited";
  created_at: string;
  updated_at: string;
  last_sign_in_at: string | null;
}

export interface InvitationAcceptance {
  token: string;
  password: string;
}

export interface Login {
  email: string;
  password: string;
}

export interface DashboardSession {
  user: DashboardUser;
  environment: "production" | "sandbox";
  permissions: ("read" | "configure" | "authenticate" | "gateway" | "sandbox" | "keys" | "team" | "self")[];
  /** For the header `X-CSRF-Token` of all requests except GET. */
  csrf_token: string;
  expires_at: string;
}

export interface SignedOut {
  signed_out: true;
}

export interface PasswordChange {
  current_password: string;
  new_password: string;
}

export interface NewDashboardUser {
  email: string;
  name: string;
  role: "owner" | "admin" | "viewer";
}

export interface InvitedDashboardUser {
  id: string;
  email: string;
  name: string;
  role: "owner" | "admin" | "viewer";
  /** `invited` means that the user has not set a password yet. */
  status: "active" | "invited";
  created_at: string;
  updated_at: string;
  last_sign_in_at: string | null;
  invitation: Invitation;
}

export interface Invitation {
  /** One-time link to set the password; shown only once. */
  url: string;
  expires_at: string;
}

export interface DashboardUserUpdate {
  name?: string;
  role?: "owner" | "admin" | "viewer";
}

export interface DeletedDashboardUser {
  id: string;
  deleted: true;
}

export interface GatewayState {
  cursor: string;
  /** replaces everything that was sent before */
  complete: boolean;
  /** more follows `cursor`: ask again immediately; for a complete state only with `pages` */
  more?: boolean;
  customers: {
    id: string;
    status: "active" | "suspended" | "archived" | "deleted";
    authentication: {
      mfa_required: boolean;
      /** values of `acr` that count as multi-factor authentication */
      mfa_acr_values?: string[];
      max_session_duration?: number;
      allowed_email_domains: string[][];
      allowed_ip_ranges: string[][];
    };
    policy_sets: string[];
  }[];
  /** only with a complete state: ids of all deleted customers */
  customers_deleted: string[];
  sessions_ended: {
    session_id: string;
    until: string;
  }[];
  users: {
    id: string;
    customer_id: string;
    status: "active" | "suspended" | "deleted";
  }[];
  policy_sets: {
    name: string;
    version: string;
    digest: string;
    rollout?: RolloutTerms;
  }[];
}

export interface RolloutTerms {
  id: string;
  revision: number;
  version: string;
  digest: string;
  mode: "shadow" | "enforce";
  percentage: number;
  sticky_by: "user" | "customer" | "client_ip";
  guard: {
    window_ms: number;
    min_requests: number;
    denial_increase: number;
    error_increase: number;
    slowdown: number;
    ignored_callers: number;
  } | null;
}

export interface GatewayPolicySet {
  name: string;
  version: string;
  digest: string;
  files: {
    name: string;
    text: string;
  }[];
}

export interface GatewayUser {
  id: string;
  customer_id: string;
  status: "active" | "suspended";
  [name: string]: unknown;
}

export interface GatewayCaller {
  hash: string;
  id: string;
  name: string;
  customer_id: string;
  permissions: string[];
  expires_at: string;
}

export interface Gateway {
  id: string;
  /** The name in its records. */
  name: string;
  kind: "gateway" | "authz";
  address: string;
  version: string;
  /** `lost`: it has not reported for three intervals, and at least 15 s. `diverged`: it enforces what was never published or, from a folder, what most gateways of its set do not. `lagging`: it does not enforce the active version yet, or any. */
  status: "alive" | "lagging" | "diverged" | "lost";
  policies: {
    source: "directory" | "control_plane";
    set: string;
    version: string | null;
    digest: string | null;
    /** Of the active version; null for folders. */
    active_digest: string | null;
    since: string;
  };
  rollout: {
    digest: string;
    mode: "shadow" | "enforce";
    percentage: number;
    /** By each version since this candidate is in force, not counting those in shadow. Gateways of earlier releases do not report them. */
    decisions?: {
      stable: number;
      candidate: number;
    };
  } | null;
  workers: {
    expected: number;
    ready: number;
  };
  /** Milliseconds by which its clock is ahead of the database's. */
  clock_offset_ms: number;
  started_at: string;
  registered_at: string;
  last_seen_at: string;
  /** The API key family with which it reports. */
  key: string;
}

export interface GatewayRegistration {
  id: string;
  kind: "gateway" | "authz";
  address: string;
  version: string;
  policies: {
    source: "directory" | "control_plane";
    set: string;
    version: string | null;
    digest: string | null;
  };
  rollout: {
    digest: string;
    mode: "shadow" | "enforce";
    percentage: number;
    decisions?: {
      stable: number;
      candidate: number;
    };
  } | null;
  workers: {
    expected: number;
    ready: number;
  };
  started_at: string;
  sent_at: string;
  interval_ms: number;
  leaving: boolean;
}

export interface TakenRegistration {
  clock_offset_ms: number;
}

export interface GatewayRecords {
  /** Audit records as the gateway writes them, one object per decision or outcome. */
  records: unknown[];
}

export interface TakenRecords {
  accepted: number;
  duplicates: number;
  rejected: {
    index: number;
    code: "INVALID_RECORD" | "CLOCK_AHEAD" | "TOO_OLD";
    message: string;
  }[];
}

export interface GatewayStatistics {
  instance: string;
  sequence: number;
  from: string;
  to: string;
  caches: {
    name: string;
    hits: number;
    misses: number;
    evictions: number;
  }[];
  audit: {
    decided: number;
    recorded: number;
    dropped: number;
  };
}

export interface TakenStatistics {
  accepted: boolean;
  reason?: "DUPLICATE" | "CLOCK_AHEAD" | "TOO_OLD";
}

export interface SandboxPerson {
  id: string;
  customer_id: string | null;
  email: string;
  name: string;
  role: string | null;
  department: string | null;
  permissions: string[];
  attributes: Record<string, unknown>;
  amr: string[];
  created_at: string;
}

export interface NewSandboxPerson {
  /** `null` if the person can sign in at every customer. */
  customer_id?: string | null;
  /** The address by which the person is chosen at sign-in. */
  email: string;
  name: string;
  role?: string | null;
  department?: string | null;
  permissions?: string[];
  /** Other attributes that policies read: `groups`, `assigned_customers`, ... */
  attributes?: Record<string, string | number | boolean | string[]>;
  /** Authentication methods (RFC 8176); `mfa` means more than one factor. */
  amr?: string[];
}

export interface DeletedSandboxPerson {
  id: string;
  deleted: true;
}

export interface SandboxSignIn {
  customer_id: string;
  /** The e-mail address of a person. */
  login?: string;
  /** A person who is not in the list: the same address is always the same user. */
  person?: {
    /** The address by which the person is chosen at sign-in. */
    email: string;
    name: string;
    role?: string | null;
    department?: string | null;
    permissions?: string[];
    /** Other attributes that policies read: `groups`, `assigned_customers`, ... */
    attributes?: Record<string, string | number | boolean | string[]>;
    /** Authentication methods (RFC 8176); `mfa` means more than one factor. */
    amr?: string[];
  };
  scopes?: ("openid" | "profile" | "email" | "groups")[];
  /** In seconds; negative for an access token that has already expired. */
  expires_in?: number;
}

export interface SandboxContents {
  customers: number;
  people: number;
  users: number;
  sessions: number;
  policies: number;
  policy_sets: number;
  webhooks: number;
  api_keys: number;
  decisions: number;
  events: number;
}

export interface FinishSignInQuery {
  state?: string;
  code?: string;
  iss?: string;
  error?: string;
  error_description?: string;
}

export interface LogoutQuery {
  session_id?: string;
  user_id?: string;
  customer_id?: string;
  post_logout_return_url?: string;
  state?: string;
}

export interface ListSessionsQuery {
  page?: number;
  limit?: number;
  sort?: "created_at" | "last_used_at" | "expires_at";
  order?: "asc" | "desc";
  customer_id?: string;
  user_id?: string;
  status?: "active" | "expired" | "ended";
  created_after?: string;
  created_before?: string;
}

export interface ListCustomersQuery {
  page?: number;
  limit?: number;
  sort?: "created_at" | "updated_at" | "name" | "status";
  order?: "asc" | "desc";
  status?: "active" | "suspended" | "archived";
  /** The beginning of the name, in upper or lower case. */
  name?: string;
  /** The customer's id in your own system; unique among customers. */
  external_id?: string;
  created_after?: string;
  created_before?: string;
}

export interface ListUsersOfCustomerQuery {
  page?: number;
  limit?: number;
  sort?: "created_at" | "updated_at" | "email" | "last_sign_in_at";
  order?: "asc" | "desc";
  status?: "active" | "suspended";
  email?: string;
  /** The beginning of the name, in upper or lower case. */
  name?: string;
  /** The `sub` at the identity provider, exactly. */
  subject?: string;
  created_after?: string;
  created_before?: string;
  role?: string;
}

export interface ListUsersQuery {
  page?: number;
  limit?: number;
  sort?: "created_at" | "updated_at" | "email" | "last_sign_in_at";
  order?: "asc" | "desc";
  status?: "active" | "suspended";
  email?: string;
  /** The beginning of the name, in upper or lower case. */
  name?: string;
  /** The `sub` at the identity provider, exactly. */
  subject?: string;
  created_after?: string;
  created_before?: string;
  role?: string;
  customer_id?: string;
}

export interface ListErasuresQuery {
  page?: number;
  limit?: number;
  sort?: "requested_at";
  order?: "asc" | "desc";
  kind?: "user" | "customer" | "dashboard_user";
  status?: "running" | "finished";
  customer_id?: string;
}

export interface ListPoliciesQuery {
  page?: number;
  limit?: number;
  sort?: "created_at" | "updated_at" | "name";
  order?: "asc" | "desc";
  type?: "authentication" | "authorization";
  status?: "active" | "inactive";
  /** The beginning of the name, in upper or lower case. */
  name?: string;
}

export interface ListCustomerPoliciesQuery {
  page?: number;
  limit?: number;
  sort?: "assigned_at" | "created_at" | "updated_at" | "name";
  order?: "asc" | "desc";
  type?: "authentication" | "authorization";
  status?: "active" | "inactive";
  /** The beginning of the name, in upper or lower case. */
  name?: string;
}

export interface ListPolicyCustomersQuery {
  page?: number;
  limit?: number;
  sort?: "assigned_at";
  order?: "asc" | "desc";
}

export interface ListBulkAssignmentsQuery {
  page?: number;
  limit?: number;
  sort?: "requested_at";
  order?: "asc" | "desc";
  policy_id?: string;
  status?: "running" | "finished" | "cancelled" | "failed";
}

export interface ListPolicySetsQuery {
  page?: number;
  limit?: number;
  sort?: "created_at" | "updated_at" | "name";
  order?: "asc" | "desc";
}

export interface ListPolicySetVersionsQuery {
  page?: number;
  limit?: number;
  sort?: "published_at" | "version";
  order?: "asc" | "desc";
}

export interface ListRolloutsQuery {
  page?: number;
  limit?: number;
  sort?: "started_at";
  order?: "asc" | "desc";
}

export interface GetAnalyticsQuery {
  from?: string;
  to?: string;
  customer_id?: string;
  interval?: "minute" | "hour" | "day";
  /** Entries of each list. Default: 10. */
  top?: number;
}

export interface ListEventsQuery {
  page?: number;
  limit?: number;
  sort?: "timestamp";
  order?: "asc" | "desc";
  /** A type of event, or a family of types: `authentication` is all of `user.*`. */
  type?:
    | "user.authenticated"
    | "user.authentication_failed"
    | "user.logged_out"
    | "user.deleted"
    | "session.revoked"
    | "policy.violated"
    | "policy.updated"
    | "policy_set.published"
    | "policy_set.rollout_started"
    | "policy_set.rollout_changed"
    | "policy_set.rollout_promoted"
    | "policy_set.rollout_aborted"
    | "customer.created"
    | "customer.updated"
    | "customer.suspended"
    | "api_key.created"
    | "api_key.revoked"
    | "gateway.lost"
    | "gateway.diverged"
    | "gateway.lagging"
    | "gateway.recovered"
    | "authentication"
    | "session"
    | "policy"
    | "policy_set"
    | "customer"
    | "api_key"
    | "gateway";
  customer_id?: string;
  user_id?: string;
  from?: string;
  to?: string;
  /** `X-Next-Cursor` of the previous page. */
  cursor?: string;
}

export interface GetEventFeedQuery {
  /** The `cursor` of the previous answer; `latest` for events from now on. Without it, the feed begins with the oldest event. */
  after?: string;
  limit?: number;
  /** A type of event, or a family of types: `authentication` is all of `user.*`. */
  type?:
    | "user.authenticated"
    | "user.authentication_failed"
    | "user.logged_out"
    | "user.deleted"
    | "session.revoked"
    | "policy.violated"
    | "policy.updated"
    | "policy_set.published"
    | "policy_set.rollout_started"
    | "policy_set.rollout_changed"
    | "policy_set.rollout_promoted"
    | "policy_set.rollout_aborted"
    | "customer.created"
    | "customer.updated"
    | "customer.suspended"
    | "api_key.created"
    | "api_key.revoked"
    | "gateway.lost"
    | "gateway.diverged"
    | "gateway.lagging"
    | "gateway.recovered"
    | "authentication"
    | "session"
    | "policy"
    | "policy_set"
    | "customer"
    | "api_key"
    | "gateway";
  customer_id?: string;
}

export interface ListUserActivityQuery {
  page?: number;
  limit?: number;
  sort?: "last_seen_at" | "requests" | "denied" | "sign_ins" | "first_seen_at" | "user_id";
  order?: "asc" | "desc";
  customer_id?: string;
  seen_since?: string;
}

export interface ListAuditLogsQuery {
  page?: number;
  limit?: number;
  sort?: "timestamp";
  order?: "asc" | "desc";
  from?: string;
  to?: string;
  /** `decision`, `outcome`, `change`, `shadow`, `rollout`, `refused_call`, or several separated by commas. Default: `decision,change`. */
  kind?: string;
  customer_id?: string;
  user_id?: string;
  decision?: "ALLOW" | "DENY";
  reason?: string;
  /** The path of a decision, or `type/id` of a change; a trailing `*` matches any rest. */
  resource?: string;
  action?: string;
  rule?: string;
  policy_set?: string;
  request_id?: string;
  decision_id?: string;
  /** The API key that sent the record. */
  ingested_by?: string;
  /** The gateway's name for itself. */
  gateway?: string;
  /** Adds to decisions what the rules read, where the gateway sent it (`audit.inputs`) and `retention.inputs` has not passed. Not for keys that are limited to a customer, because rules may read attributes of others. */
  inputs?: "true";
  /** `X-Next-Cursor` of the previous page. */
  cursor?: string;
  format?: "json" | "ndjson";
}

export interface ListWebhooksQuery {
  page?: number;
  limit?: number;
  sort?: "created_at" | "updated_at";
  order?: "asc" | "desc";
  status?: "enabled" | "disabled";
  customer_id?: string;
}

export interface ListWebhookDeliveriesQuery {
  page?: number;
  limit?: number;
  sort?: "created_at";
  order?: "asc" | "desc";
  status?: "pending" | "delivering" | "delivered" | "failed" | "cancelled";
  type?:
    | "user.authenticated"
    | "user.authentication_failed"
    | "user.logged_out"
    | "user.deleted"
    | "session.revoked"
    | "policy.violated"
    | "policy.updated"
    | "policy_set.published"
    | "policy_set.rollout_started"
    | "policy_set.rollout_changed"
    | "policy_set.rollout_promoted"
    | "policy_set.rollout_aborted"
    | "customer.created"
    | "customer.updated"
    | "customer.suspended"
    | "api_key.created"
    | "api_key.revoked"
    | "gateway.lost"
    | "gateway.diverged"
    | "gateway.lagging"
    | "gateway.recovered"
    | "webhook.test";
}

export interface ListApiKeysQuery {
  page?: number;
  limit?: number;
  sort?: "created_at" | "name";
  order?: "asc" | "desc";
  status?: "active" | "expired" | "revoked";
  scope?: "read_only" | "configuration" | "authentication" | "full_access" | "gateway" | "caller";
  customer_id?: string;
  family_id?: string;
}

export interface ListClientsQuery {
  page?: number;
  limit?: number;
  sort?: "created_at" | "name";
  order?: "asc" | "desc";
  customer_id?: string;
}

export interface ListDashboardUsersQuery {
  page?: number;
  limit?: number;
  sort?: "created_at" | "email" | "name";
  order?: "asc" | "desc";
  role?: "owner" | "admin" | "viewer";
  status?: "active" | "invited";
}

export interface FollowStateQuery {
  /** `cursor` of the last response */
  after?: string;
  wait?: number;
  /** a complete state may come in pages */
  pages?: "true";
}

export interface ListGatewaysQuery {
  page?: number;
  limit?: number;
  sort?: "id" | "last_seen_at";
  order?: "asc" | "desc";
  status?: "alive" | "lagging" | "diverged" | "lost";
  policy_set?: string;
}

export interface ListPeopleQuery {
  page?: number;
  limit?: number;
  sort?: "created_at" | "name" | "email";
  order?: "asc" | "desc";
  /** Only people who can sign in at this customer. */
  customer_id?: string;
  role?: string;
  email?: string;
}
