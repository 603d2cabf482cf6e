"""Generated from the OpenAPI document of the control plane: see clients/README.md."""


from __future__ import annotations


from typing import TYPE_CHECKING, Any, Literal, Optional, TypedDict, Union


if TYPE_CHECKING:
    from typing_extensions import NotRequired


ErrorCode = Literal[
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
]


#: Every error code of the API.
ERROR_CODES: tuple[ErrorCode, ...] = (
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
)


class Meta(TypedDict):
    timestamp: str
    request_id: str


class Pagination(TypedDict):
    current_page: int
    total_pages: int
    total_items: int
    page_size: int


class Warning(TypedDict):
    code: Literal["NOT_USED_IN_SANDBOX", "MFA_NOT_ANNOUNCED", "AUTH_TIME_NOT_ANNOUNCED", "POLICY_NOT_ASSIGNED", "SHORT_SECRET", "NOT_BASE64", "INVISIBLE_CHARACTERS"]
    message: str
    policy_id: NotRequired[str]
    customers: NotRequired[int]


class SignInRequest(TypedDict):
    customer_id: str
    return_url: str
    scopes: NotRequired[list[str]]
    login_hint: NotRequired[str]
    acr_values: NotRequired[str]
    prompt: NotRequired[Literal["none", "login", "consent", "select_account"]]
    max_age: NotRequired[int]


class StartedSignIn(TypedDict):
    authorization_url: str
    state: str
    expires_in: int


class CodeExchange(TypedDict):
    grant_type: NotRequired[Literal["authorization_code"]]
    code: str
    customer_id: NotRequired[str]
    state: NotRequired[str]
    return_url: NotRequired[str]


class Tokens(TypedDict):
    access_token: str
    token_type: Literal["Bearer"]
    expires_in: int
    refresh_token: str
    refresh_expires_in: int
    scope: str
    id_token: NotRequired[str]
    user: SignedInUser
    session: TokenSession


class SignedInUser(TypedDict):
    id: str
    email: Optional[str]
    name: Optional[str]
    customer_id: str
    role: Any
    department: Any
    permissions: Any


class TokenSession(TypedDict):
    id: str
    customer_id: str
    user_id: str
    created_at: str
    expires_at: str
    auth_time: Optional[str]
    amr: list[str]
    acr: Optional[str]
    ip_address: str
    user_agent: str


class TokenRefresh(TypedDict):
    grant_type: NotRequired[Literal["refresh_token"]]
    refresh_token: str


class LogoutRequest(TypedDict):
    session_id: NotRequired[str]
    user_id: NotRequired[str]
    customer_id: NotRequired[str]
    post_logout_return_url: NotRequired[str]
    state: NotRequired[str]
    refresh_token: NotRequired[str]


class Logout(TypedDict):
    ended: int
    end_session_url: NotRequired[str]


class IdpTestRequest(TypedDict):
    token: NotRequired[str]


class IdpTestStepsItem(TypedDict):
    step: Literal["discovery", "issuer", "endpoints", "code_flow", "pkce", "signing_keys", "client"]
    status: Literal["passed", "failed", "skipped"]
    reason: Optional[str]


class IdpTestIdentity(TypedDict):
    subject: str
    email: Optional[str]
    name: Optional[str]
    amr: list[str]
    acr: Optional[str]
    attributes: dict[str, Any]
    not_permitted: list[DroppedClaim]
    unusable: list[str]


class IdpTest(TypedDict):
    steps: list[IdpTestStepsItem]
    identity: Optional[IdpTestIdentity]


class DroppedClaim(TypedDict):
    claim: str
    values: list[str]
    count: int
    reason: str


class Session(TypedDict):
    id: str
    customer_id: str
    user_id: str
    client_id: str
    status: Literal["active", "expired", "ended"]
    scope: str
    auth_time: Optional[str]
    amr: list[str]
    acr: Optional[str]
    ip_address: str
    user_agent: str
    created_at: str
    last_used_at: str
    expires_at: str
    ended_at: Optional[str]
    end_reason: Optional[Literal["logout", "revoked", "user_suspended", "user_deleted", "customer_suspended", "customer_archived", "customer_deleted", "refresh_reuse", "code_reuse", "session_too_old", "session_limit"]]


class Customer(TypedDict):
    id: str
    external_id: Optional[str]
    name: str
    status: Literal["active", "suspended", "archived"]
    allowed_return_urls: list[str]
    metadata: dict[str, Any]
    allowed_roles: Optional[list[str]]
    allowed_permissions: Optional[list[str]]
    allowed_groups: Optional[list[str]]
    allowed_claims: Optional[list[str]]
    role_mapping: dict[str, list[str]]
    created_at: str
    updated_at: str


class NewCustomer(TypedDict):
    name: str
    external_id: NotRequired[Optional[str]]
    status: NotRequired[Literal["active", "suspended"]]
    allowed_return_urls: NotRequired[list[str]]
    metadata: NotRequired[dict[str, Optional[Union[str, float, bool]]]]
    allowed_roles: NotRequired[Optional[list[str]]]
    allowed_permissions: NotRequired[Optional[list[str]]]
    allowed_groups: NotRequired[Optional[list[str]]]
    allowed_claims: NotRequired[Optional[list[Union[Literal["*"], str]]]]
    role_mapping: NotRequired[dict[str, list[str]]]
    policy_ids: NotRequired[list[str]]


class CustomerUpdate(TypedDict):
    name: NotRequired[str]
    external_id: NotRequired[Optional[str]]
    allowed_return_urls: NotRequired[list[str]]
    metadata: NotRequired[dict[str, Optional[Union[str, float, bool]]]]
    allowed_roles: NotRequired[Optional[list[str]]]
    allowed_permissions: NotRequired[Optional[list[str]]]
    allowed_groups: NotRequired[Optional[list[str]]]
    allowed_claims: NotRequired[Optional[list[Union[Literal["*"], str]]]]
    role_mapping: NotRequired[dict[str, list[str]]]
    status: NotRequired[Literal["active", "suspended", "archived"]]


class CustomerPatch(TypedDict):
    name: NotRequired[str]
    external_id: NotRequired[Optional[str]]
    allowed_return_urls: NotRequired[list[str]]
    metadata: NotRequired[dict[str, Any]]
    allowed_roles: NotRequired[Optional[list[str]]]
    allowed_permissions: NotRequired[Optional[list[str]]]
    allowed_groups: NotRequired[Optional[list[str]]]
    allowed_claims: NotRequired[Optional[list[Union[Literal["*"], str]]]]
    role_mapping: NotRequired[dict[str, Any]]
    status: NotRequired[Literal["active", "suspended", "archived"]]


class DeletedCustomer(TypedDict):
    id: str
    deleted: Literal[True]


class IdentityProvider(TypedDict):
    customer_id: str
    type: Literal["oidc", "okta", "auth0", "entra", "google", "keycloak"]
    domain: str
    issuer: str
    tenant: Optional[str]
    realm: Optional[str]
    client_id: str
    client_secret_set: Literal[True]
    scopes: list[str]
    claims: dict[str, str]
    mfa_acr_values: list[str]
    verified_at: Optional[str]
    created_at: str
    updated_at: str


class NewIdentityProvider(TypedDict):
    type: Literal["oidc", "okta", "auth0", "entra", "google", "keycloak"]
    domain: str
    client_id: str
    client_secret: str
    scopes: NotRequired[list[str]]
    issuer: NotRequired[str]
    tenant: NotRequired[str]
    realm: NotRequired[str]
    claims: NotRequired[dict[str, str]]
    mfa_acr_values: NotRequired[list[str]]
    verify: NotRequired[bool]


class DeletedIdentityProvider(TypedDict):
    customer_id: str
    deleted: Literal[True]


class User(TypedDict):
    id: str
    customer_id: str
    issuer: Optional[str]
    subject: str
    email: Optional[str]
    name: Optional[str]
    status: Literal["active", "suspended"]
    profile: dict[str, Any]
    dropped_claims: list[DroppedClaim]
    attributes: dict[str, Any]
    effective_attributes: dict[str, Any]
    created_at: str
    updated_at: str
    last_sign_in_at: Optional[str]


class NewUser(TypedDict):
    subject: str
    email: NotRequired[str]
    name: NotRequired[str]
    attributes: NotRequired[dict[str, Union[str, float, bool, list[str]]]]


class UserUpdate(TypedDict):
    status: NotRequired[Literal["active", "suspended"]]
    attributes: NotRequired[dict[str, Union[str, float, bool, list[str]]]]


class UserPatch(TypedDict):
    status: NotRequired[Literal["active", "suspended"]]
    attributes: NotRequired[dict[str, Any]]


class DeletedUser(TypedDict):
    id: str
    deleted: Literal[True]


class UserExportUser(TypedDict):
    id: str
    customer_id: str
    issuer: Optional[str]
    subject: str
    email: Optional[str]
    name: Optional[str]
    status: Literal["active", "suspended"]
    profile: dict[str, Any]
    dropped_claims: list[DroppedClaim]
    attributes: dict[str, Any]
    effective_attributes: dict[str, Any]
    created_at: str
    updated_at: str
    last_sign_in_at: Optional[str]
    claimed: Optional[dict[str, Any]]
    claimed_at: Optional[str]


class UserExportActivity(TypedDict):
    requests: int
    denied: int
    sign_ins: int
    first_seen_at: str
    last_seen_at: str


class UserExport(TypedDict):
    exported_at: str
    user: UserExportUser
    activity: Optional[UserExportActivity]
    sessions: list[Session]
    events: list[Event]
    refusals: list[Event]
    decisions: list[AuditRecord]
    changes: list[AuditRecord]


class Event(TypedDict):
    id: str
    type: Literal["user.authenticated", "user.authentication_failed", "user.logged_out", "user.deleted", "session.revoked", "policy.violated", "policy.updated", "policy_set.published", "policy_set.rollout_started", "policy_set.rollout_changed", "policy_set.rollout_promoted", "policy_set.rollout_aborted", "customer.created", "customer.updated", "customer.suspended", "api_key.created", "api_key.revoked", "gateway.lost", "gateway.diverged", "gateway.lagging", "gateway.recovered"]
    timestamp: str
    customer_id: Optional[str]
    user_id: Optional[str]
    data: dict[str, Any]


class DecisionRecord(TypedDict):
    kind: Literal["decision"]
    timestamp: str
    customer_id: NotRequired[str]
    user_id: str
    ingested_by: NotRequired[str]
    gateway: NotRequired[str]
    received_at: NotRequired[str]
    decision_id: str
    request_id: str
    resource: str
    action: str
    decision: Literal["ALLOW", "DENY"]
    reason: str
    rule: Optional[str]
    policy_set: str
    client_ip: str
    evaluation_time_us: int


class OutcomeRecord(TypedDict):
    kind: Literal["outcome"]
    timestamp: str
    customer_id: NotRequired[str]
    user_id: str
    ingested_by: NotRequired[str]
    gateway: NotRequired[str]
    received_at: NotRequired[str]
    event: Literal["response", "connection"]
    decision_id: str
    request_id: NotRequired[str]


class ChangeRecordTarget(TypedDict):
    type: str
    id: str


class ChangeRecord(TypedDict):
    kind: Literal["change"]
    id: str
    timestamp: str
    customer_id: NotRequired[str]
    user_id: str
    request_id: str
    action: str
    actor: ActorReference
    target: ChangeRecordTarget
    before: NotRequired[dict[str, Any]]
    after: NotRequired[dict[str, Any]]
    client_ip: str


class ActorReference(TypedDict):
    kind: str
    id: str
    name: NotRequired[str]


class ShadowRecord(TypedDict):
    kind: Literal["shadow"]
    id: str
    timestamp: str
    customer_id: NotRequired[str]
    user_id: str
    ingested_by: NotRequired[str]
    gateway: NotRequired[str]
    received_at: NotRequired[str]
    request_id: str
    resource: str
    action: str
    difference: Literal["denies", "allows", "plan"]
    rule: Optional[str]
    policy_set: str
    candidate_decision: Literal["ALLOW", "DENY"]


class RolloutRecord(TypedDict):
    kind: Literal["rollout"]
    decision_id: str
    timestamp: str
    ingested_by: NotRequired[str]
    gateway: NotRequired[str]
    received_at: NotRequired[str]
    change: str
    policy_set: str


class RefusedCallRecordActor(TypedDict):
    kind: str
    id: str


class RefusedCallRecord(TypedDict):
    kind: Literal["refused_call"]
    id: str
    timestamp: str
    customer_id: NotRequired[str]
    user_id: str
    request_id: str
    actor: RefusedCallRecordActor
    operation: str
    method: str
    path: str
    status: int
    code: str
    client_ip: str
    calls: NotRequired[int]


class ErasureProgress(TypedDict):
    users: int
    sessions: int
    events: int
    records: int


class ErasureFailure(TypedDict):
    step: Literal["users", "sessions", "events", "refusals", "deliveries", "records", "changes", "user_events", "user_deliveries", "user_records", "acts", "membership", "keys"]
    message: str
    attempts: int
    next_attempt_at: str


class Erasure(TypedDict):
    id: str
    kind: Literal["user", "customer", "dashboard_user"]
    customer_id: Optional[str]
    status: Literal["running", "finished"]
    requested_at: str
    finished_at: Optional[str]
    progress: ErasureProgress
    failure: Optional[ErasureFailure]


class Policy(TypedDict):
    id: str
    name: str
    description: str
    type: Literal["authentication", "authorization"]
    status: Literal["active", "inactive"]
    conditions: dict[str, Any]
    assign_to_new_customers: bool
    created_at: str
    updated_at: str


class NewAuthenticationPolicy(TypedDict):
    name: str
    description: NotRequired[str]
    status: NotRequired[Literal["active", "inactive"]]
    assign_to_new_customers: NotRequired[bool]
    type: Literal["authentication"]
    conditions: AuthenticationConditions


class AuthenticationConditions(TypedDict):
    mfa_required: NotRequired[bool]
    max_session_duration: NotRequired[int]
    allowed_email_domains: NotRequired[list[str]]
    allowed_ip_ranges: NotRequired[list[str]]


class NewAuthorizationPolicy(TypedDict):
    name: str
    description: NotRequired[str]
    status: NotRequired[Literal["active", "inactive"]]
    assign_to_new_customers: NotRequired[bool]
    type: Literal["authorization"]
    conditions: AuthorizationConditions


class AuthorizationConditions(TypedDict):
    policy_set: str


class PolicyUpdate(TypedDict):
    name: NotRequired[str]
    description: NotRequired[str]
    assign_to_new_customers: NotRequired[bool]
    status: NotRequired[Literal["active", "inactive"]]
    type: NotRequired[Literal["authentication", "authorization"]]
    conditions: NotRequired[dict[str, Any]]


class PolicyPatch(TypedDict):
    name: NotRequired[str]
    description: NotRequired[str]
    assign_to_new_customers: NotRequired[bool]
    status: NotRequired[Literal["active", "inactive"]]
    type: NotRequired[Literal["authentication", "authorization"]]
    conditions: NotRequired[dict[str, Any]]


class DeletedPolicy(TypedDict):
    id: str
    deleted: Literal[True]


class AssignedPolicy(TypedDict):
    id: str
    name: str
    description: str
    type: Literal["authentication", "authorization"]
    status: Literal["active", "inactive"]
    conditions: dict[str, Any]
    assign_to_new_customers: bool
    created_at: str
    updated_at: str
    assigned_at: str


class PolicyAssignment(TypedDict):
    policy_ids: list[str]


class PolicyUnassignment(TypedDict):
    customer_id: str
    policy_id: str
    assigned: Literal[False]


class PolicyImpactRequirementsItem(TypedDict):
    requirement: Literal["MFA_REQUIRED", "SESSION_TOO_OLD", "EMAIL_DOMAIN_NOT_ALLOWED", "CLIENT_ADDRESS_NOT_ALLOWED"]
    sessions: int


class PolicyImpactExamplesItem(TypedDict):
    session_id: str
    user_id: str
    email: Optional[str]
    requirement: Literal["MFA_REQUIRED", "SESSION_TOO_OLD", "EMAIL_DOMAIN_NOT_ALLOWED", "CLIENT_ADDRESS_NOT_ALLOWED"]


class PolicyImpact(TypedDict):
    sessions: int
    complete: bool
    refused: Optional[int]
    users: int
    requirements: list[PolicyImpactRequirementsItem]
    examples: list[PolicyImpactExamplesItem]


class PolicyAssignee(TypedDict):
    id: str
    name: str
    status: str
    assigned_at: str


class NewBulkAssignment(TypedDict):
    action: Literal["assign", "unassign", "preview"]
    customers: CustomerSelection


class CustomerSelection1(TypedDict):
    ids: list[str]


class CustomerSelection2(TypedDict):
    status: Literal["active", "suspended", "archived"]


class CustomerSelection3(TypedDict):
    all: Literal[True]


class BulkAssignmentCustomers1(TypedDict):
    ids: int


class BulkAssignmentCustomers2(TypedDict):
    status: str


class BulkAssignmentCustomers3(TypedDict):
    all: Literal[True]


class BulkAssignmentProgress(TypedDict):
    total: int
    done: int
    changed: int
    failed: int


class BulkAssignmentFailuresItem(TypedDict):
    customer_id: str
    code: str
    message: str


class BulkAssignmentImpactExamplesItemRequirementsItem(TypedDict):
    requirement: Literal["MFA_REQUIRED", "SESSION_TOO_OLD", "EMAIL_DOMAIN_NOT_ALLOWED", "CLIENT_ADDRESS_NOT_ALLOWED"]
    sessions: int


class BulkAssignmentImpactExamplesItem(TypedDict):
    customer_id: str
    sessions: int
    refused: int
    requirements: list[BulkAssignmentImpactExamplesItemRequirementsItem]


class BulkAssignmentImpact(TypedDict):
    sessions: int
    complete: bool
    refused: Optional[int]
    customers: int
    examples: list[BulkAssignmentImpactExamplesItem]


class BulkAssignment(TypedDict):
    id: str
    policy_id: str
    action: Literal["assign", "unassign", "preview"]
    customers: Union[BulkAssignmentCustomers1, BulkAssignmentCustomers2, BulkAssignmentCustomers3]
    status: Literal["running", "finished", "cancelled", "failed"]
    problem: Optional[str]
    requested_by: ActorReference
    requested_at: str
    ended_at: Optional[str]
    progress: BulkAssignmentProgress
    failures: list[BulkAssignmentFailuresItem]
    impact: Optional[BulkAssignmentImpact]


class PolicySetRollout(TypedDict):
    id: str
    version: str
    mode: Literal["shadow", "enforce"]
    percentage: int


class PolicySet(TypedDict):
    name: str
    active_version: Optional[str]
    active_digest: Optional[str]
    activated_at: Optional[str]
    previous_version: Optional[str]
    versions: int
    rollout: Optional[PolicySetRollout]
    created_at: str
    updated_at: str


class PolicySetToValidate(TypedDict):
    name: NotRequired[str]
    files: list[PolicyFile]


class PolicyFile(TypedDict):
    name: str
    text: str


class PolicySetValidation(TypedDict):
    valid: bool
    name: NotRequired[str]
    version: NotRequired[str]
    digest: NotRequired[str]
    rules: NotRequired[int]
    diagnostics: list[Diagnostic]
    rendered: str


class Diagnostic(TypedDict):
    severity: Literal["error", "warning"]
    code: str
    message: str
    file: str
    line: int
    column: int
    length: int
    hint: NotRequired[str]


class NewPolicySetVersion(TypedDict):
    name: str
    files: list[PolicyFile]
    activate: NotRequired[bool]


class PolicySetVersion(TypedDict):
    name: str
    version: str
    digest: str
    rules: int
    active: bool
    diagnostics: list[Diagnostic]
    published_at: str
    published_by: ActorReference


class PolicySetVersionWithFilesFilesItem(TypedDict):
    name: str
    text: str


class PolicySetVersionWithFiles(TypedDict):
    name: str
    version: str
    digest: str
    rules: int
    active: bool
    diagnostics: list[Diagnostic]
    published_at: str
    published_by: ActorReference
    files: list[PolicySetVersionWithFilesFilesItem]


class PolicySetActivation(TypedDict):
    version: str


class RolloutProgressGuard(TypedDict):
    window_seconds: int
    min_requests: int
    denial_increase: float
    error_increase: float
    slowdown: int
    ignored_callers: int


class RolloutProgressComparison(TypedDict):
    outcome: Literal["ok", "inconclusive", "worse"]
    cause: NotRequired[Literal["denials", "errors", "slow"]]
    detail: NotRequired[str]


class RolloutProgressShadowRulesItem(TypedDict):
    difference: Literal["denies", "allows", "plan"]
    rule: str
    count: float


class RolloutProgressShadow(TypedDict):
    same: float
    different: float
    failed: float
    dropped: float
    rules: list[RolloutProgressShadowRulesItem]


class RolloutProgressGatewaysItemTakenBack(TypedDict):
    cause: Literal["denials", "errors", "slow"]
    detail: str


class RolloutProgressGatewaysItem(TypedDict):
    id: str
    key: str
    revision: int
    last_seen_at: str
    taken_back: Optional[RolloutProgressGatewaysItemTakenBack]


class RolloutProgress(TypedDict):
    id: str
    policy_set: str
    state: Literal["running", "promoted", "aborted"]
    revision: int
    stable: RolloutVersion
    candidate: RolloutVersion
    mode: Literal["shadow", "enforce"]
    percentage: int
    steps: list[int]
    step_pause_seconds: int
    sticky_by: Literal["user", "customer", "client_ip"]
    guard: Optional[RolloutProgressGuard]
    started_at: str
    started_by: ActorReference
    changed_at: str
    ended_at: Optional[str]
    ended_by: Optional[ActorReference]
    cause: Optional[Literal["operator", "denials", "errors", "slow"]]
    detail: Optional[str]
    comparison: Optional[RolloutProgressComparison]
    window: RolloutArms
    totals: RolloutArms
    shadow: RolloutProgressShadow
    gateways: list[RolloutProgressGatewaysItem]


class RolloutVersion(TypedDict):
    version: str
    digest: str


class RolloutArm(TypedDict):
    decisions: float
    denials: float
    errors: float
    p99_ms: float


class RolloutArms(TypedDict):
    stable: RolloutArm
    candidate: RolloutArm


class RolloutGuard(TypedDict):
    window_seconds: int
    min_requests: int
    denial_increase: float
    error_increase: float
    slowdown: int
    ignored_callers: int


class Rollout(TypedDict):
    id: str
    policy_set: str
    state: Literal["running", "promoted", "aborted"]
    revision: int
    stable: RolloutVersion
    candidate: RolloutVersion
    mode: Literal["shadow", "enforce"]
    percentage: int
    steps: list[int]
    step_pause_seconds: int
    sticky_by: Literal["user", "customer", "client_ip"]
    guard: Optional[RolloutGuard]
    started_at: str
    started_by: ActorReference
    changed_at: str
    ended_at: Optional[str]
    ended_by: Optional[ActorReference]
    cause: Optional[Literal["operator", "denials", "errors", "slow"]]
    detail: Optional[str]


class NewRollout(TypedDict):
    version: str
    mode: NotRequired[Literal["shadow", "enforce"]]
    percentage: NotRequired[int]
    steps: NotRequired[list[int]]
    step_pause_seconds: NotRequired[int]
    sticky_by: NotRequired[Literal["user", "customer", "client_ip"]]
    guard: NotRequired[Optional[NewRolloutGuard]]


class NewRolloutGuard(TypedDict):
    window_seconds: NotRequired[int]
    min_requests: NotRequired[int]
    denial_increase: NotRequired[float]
    error_increase: NotRequired[float]
    slowdown: NotRequired[int]
    ignored_callers: NotRequired[int]


class RolloutAbort(TypedDict):
    detail: NotRequired[str]


class RolloutReportSamplesStableHeaviestItem(TypedDict):
    caller: str
    decisions: int
    denials: int
    errors: int
    slow: int


class RolloutReportSamplesStable(TypedDict):
    decisions: int
    denials: int
    errors: int
    durations: list[int]
    heaviest: list[RolloutReportSamplesStableHeaviestItem]


class RolloutReportSamplesCandidateHeaviestItem(TypedDict):
    caller: str
    decisions: int
    denials: int
    errors: int
    slow: int


class RolloutReportSamplesCandidate(TypedDict):
    decisions: int
    denials: int
    errors: int
    durations: list[int]
    heaviest: list[RolloutReportSamplesCandidateHeaviestItem]


class RolloutReportSamples(TypedDict):
    stable: RolloutReportSamplesStable
    candidate: RolloutReportSamplesCandidate


class RolloutReportTotalsStableHeaviestItem(TypedDict):
    caller: str
    decisions: int
    denials: int
    errors: int
    slow: int


class RolloutReportTotalsStable(TypedDict):
    decisions: int
    denials: int
    errors: int
    durations: list[int]
    heaviest: list[RolloutReportTotalsStableHeaviestItem]


class RolloutReportTotalsCandidateHeaviestItem(TypedDict):
    caller: str
    decisions: int
    denials: int
    errors: int
    slow: int


class RolloutReportTotalsCandidate(TypedDict):
    decisions: int
    denials: int
    errors: int
    durations: list[int]
    heaviest: list[RolloutReportTotalsCandidateHeaviestItem]


class RolloutReportTotals(TypedDict):
    stable: RolloutReportTotalsStable
    candidate: RolloutReportTotalsCandidate


class RolloutReportShadowRulesItem(TypedDict):
    difference: Literal["denies", "allows", "plan"]
    rule: str
    count: int


class RolloutReportShadow(TypedDict):
    same: int
    different: int
    failed: int
    dropped: int
    rules: list[RolloutReportShadowRulesItem]


class RolloutReportTakenBack(TypedDict):
    cause: Literal["denials", "errors", "slow"]
    detail: str


class RolloutReport(TypedDict):
    gateway: str
    rollout: str
    revision: int
    samples: RolloutReportSamples
    totals: RolloutReportTotals
    shadow: Optional[RolloutReportShadow]
    taken_back: Optional[RolloutReportTakenBack]


class TakenRolloutReport(TypedDict):
    running: bool
    report_after_ms: int


class AnalyticsRequests(TypedDict):
    total: int
    allowed: int
    denied: int


class AnalyticsByReasonItem(TypedDict):
    decision: Literal["ALLOW", "DENY"]
    reason: str
    requests: int


class AnalyticsByResourceTopItem(TypedDict):
    resource: Optional[str]
    requests: int
    denied: int


class AnalyticsByResourceOther(TypedDict):
    requests: int
    denied: int


class AnalyticsByResource(TypedDict):
    top: list[AnalyticsByResourceTopItem]
    other: AnalyticsByResourceOther


class AnalyticsByCustomerTopItem(TypedDict):
    customer_id: Optional[str]
    requests: int
    denied: int


class AnalyticsByCustomerOther(TypedDict):
    requests: int
    denied: int


class AnalyticsByCustomer(TypedDict):
    top: list[AnalyticsByCustomerTopItem]
    other: AnalyticsByCustomerOther


class AnalyticsOverTimeItem(TypedDict):
    start: str
    requests: int
    allowed: int
    denied: int
    sign_ins: int
    failures: int


class AnalyticsSignIns(TypedDict):
    succeeded: int
    failed: int
    signed_out: int


class AnalyticsUsers(TypedDict):
    active: int
    last_day: int
    last_week: int
    last_month: int


class AnalyticsSessions(TypedDict):
    active: int


class AnalyticsLatency(TypedDict):
    measured: int
    p50_ms: Optional[float]
    p95_ms: Optional[float]
    p99_ms: Optional[float]


class AnalyticsCachesItem(TypedDict):
    name: str
    hits: int
    misses: int
    evictions: int
    hit_rate: Optional[float]
    eviction_rate: Optional[float]


class AnalyticsAudit(TypedDict):
    decided: int
    recorded: int
    dropped: int


Analytics = TypedDict(
    "Analytics",
    {
        "from": 'str',
        "to": 'str',
        "interval": 'Literal["minute", "hour", "day"]',
        "customer_id": 'Optional[str]',
        "requests": 'AnalyticsRequests',
        "by_reason": 'list[AnalyticsByReasonItem]',
        "by_resource": 'AnalyticsByResource',
        "by_customer": 'Optional[AnalyticsByCustomer]',
        "over_time": 'list[AnalyticsOverTimeItem]',
        "sign_ins": 'AnalyticsSignIns',
        "policy_violations": 'int',
        "users": 'AnalyticsUsers',
        "sessions": 'AnalyticsSessions',
        "latency": 'Optional[AnalyticsLatency]',
        "caches": 'Optional[list[AnalyticsCachesItem]]',
        "audit": 'Optional[AnalyticsAudit]',
    },
)


class EventFeed(TypedDict):
    events: list[Event]
    cursor: str
    more: bool
    waiting_since: Optional[str]


class UserActivityRecent(TypedDict):
    requests: int
    denied: int
    sign_ins: int


class UserActivity(TypedDict):
    user_id: str
    customer_id: Optional[str]
    email: Optional[str]
    name: Optional[str]
    requests: int
    denied: int
    sign_ins: int
    first_seen_at: str
    last_seen_at: str
    recent: UserActivityRecent


class Webhook(TypedDict):
    id: str
    customer_id: Optional[str]
    url: str
    description: Optional[str]
    events: list[Literal["user.authenticated", "user.authentication_failed", "user.logged_out", "user.deleted", "session.revoked", "policy.violated", "policy.updated", "policy_set.published", "policy_set.rollout_started", "policy_set.rollout_changed", "policy_set.rollout_promoted", "policy_set.rollout_aborted", "customer.created", "customer.updated", "customer.suspended", "api_key.created", "api_key.revoked", "gateway.lost", "gateway.diverged", "gateway.lagging", "gateway.recovered", "*"]]
    enabled: bool
    disabled_reason: Optional[Literal["requested", "failing", "gone", "customer_deleted"]]
    disabled_at: Optional[str]
    previous_secret_expires_at: Optional[str]
    paused_until: Optional[str]
    created_at: str
    updated_at: str


class NewWebhook(TypedDict):
    url: str
    events: Union[Literal["*"], list[Literal["user.authenticated", "user.authentication_failed", "user.logged_out", "user.deleted", "session.revoked", "policy.violated", "policy.updated", "policy_set.published", "policy_set.rollout_started", "policy_set.rollout_changed", "policy_set.rollout_promoted", "policy_set.rollout_aborted", "customer.created", "customer.updated", "customer.suspended", "api_key.created", "api_key.revoked", "gateway.lost", "gateway.diverged", "gateway.lagging", "gateway.recovered", "*"]]]
    secret: NotRequired[str]
    description: NotRequired[Optional[str]]
    customer_id: NotRequired[Optional[str]]
    enabled: NotRequired[bool]


class WebhookWithSecret(TypedDict):
    id: str
    customer_id: Optional[str]
    url: str
    description: Optional[str]
    events: list[Literal["user.authenticated", "user.authentication_failed", "user.logged_out", "user.deleted", "session.revoked", "policy.violated", "policy.updated", "policy_set.published", "policy_set.rollout_started", "policy_set.rollout_changed", "policy_set.rollout_promoted", "policy_set.rollout_aborted", "customer.created", "customer.updated", "customer.suspended", "api_key.created", "api_key.revoked", "gateway.lost", "gateway.diverged", "gateway.lagging", "gateway.recovered", "*"]]
    enabled: bool
    disabled_reason: Optional[Literal["requested", "failing", "gone", "customer_deleted"]]
    disabled_at: Optional[str]
    previous_secret_expires_at: Optional[str]
    paused_until: Optional[str]
    created_at: str
    updated_at: str
    secret: str


class WebhookUpdate(TypedDict):
    url: NotRequired[str]
    events: NotRequired[Union[Literal["*"], list[Literal["user.authenticated", "user.authentication_failed", "user.logged_out", "user.deleted", "session.revoked", "policy.violated", "policy.updated", "policy_set.published", "policy_set.rollout_started", "policy_set.rollout_changed", "policy_set.rollout_promoted", "policy_set.rollout_aborted", "customer.created", "customer.updated", "customer.suspended", "api_key.created", "api_key.revoked", "gateway.lost", "gateway.diverged", "gateway.lagging", "gateway.recovered", "*"]]]]
    description: NotRequired[Optional[str]]
    enabled: NotRequired[bool]


class DeletedWebhook(TypedDict):
    id: str
    deleted: Literal[True]


class WebhookSecretRotation(TypedDict):
    secret: NotRequired[str]
    overlap_seconds: NotRequired[int]


class WebhookDelivery(TypedDict):
    id: str
    webhook_id: str
    event_id: str
    event_type: Literal["user.authenticated", "user.authentication_failed", "user.logged_out", "user.deleted", "session.revoked", "policy.violated", "policy.updated", "policy_set.published", "policy_set.rollout_started", "policy_set.rollout_changed", "policy_set.rollout_promoted", "policy_set.rollout_aborted", "customer.created", "customer.updated", "customer.suspended", "api_key.created", "api_key.revoked", "gateway.lost", "gateway.diverged", "gateway.lagging", "gateway.recovered", "webhook.test"]
    status: Literal["pending", "delivering", "delivered", "failed", "cancelled"]
    attempts: int
    created_at: str
    last_attempt_at: Optional[str]
    next_attempt_at: Optional[str]
    finished_at: Optional[str]
    response_status: Optional[int]
    response_body: Optional[str]
    duration_ms: Optional[int]
    error: Optional[str]
    cancelled_reason: Optional[Literal["webhook_disabled", "webhook_deleted", "customer_deleted"]]


class WebhookDeliveryWithPayloadPayload(TypedDict):
    id: str
    type: Literal["user.authenticated", "user.authentication_failed", "user.logged_out", "user.deleted", "session.revoked", "policy.violated", "policy.updated", "policy_set.published", "policy_set.rollout_started", "policy_set.rollout_changed", "policy_set.rollout_promoted", "policy_set.rollout_aborted", "customer.created", "customer.updated", "customer.suspended", "api_key.created", "api_key.revoked", "gateway.lost", "gateway.diverged", "gateway.lagging", "gateway.recovered", "webhook.test"]
    timestamp: str
    data: dict[str, Any]


class WebhookDeliveryWithPayload(TypedDict):
    id: str
    webhook_id: str
    event_id: str
    event_type: Literal["user.authenticated", "user.authentication_failed", "user.logged_out", "user.deleted", "session.revoked", "policy.violated", "policy.updated", "policy_set.published", "policy_set.rollout_started", "policy_set.rollout_changed", "policy_set.rollout_promoted", "policy_set.rollout_aborted", "customer.created", "customer.updated", "customer.suspended", "api_key.created", "api_key.revoked", "gateway.lost", "gateway.diverged", "gateway.lagging", "gateway.recovered", "webhook.test"]
    status: Literal["pending", "delivering", "delivered", "failed", "cancelled"]
    attempts: int
    created_at: str
    last_attempt_at: Optional[str]
    next_attempt_at: Optional[str]
    finished_at: Optional[str]
    response_status: Optional[int]
    response_body: Optional[str]
    duration_ms: Optional[int]
    error: Optional[str]
    cancelled_reason: Optional[Literal["webhook_disabled", "webhook_deleted", "customer_deleted"]]
    payload: WebhookDeliveryWithPayloadPayload


class ApiKey(TypedDict):
    id: str
    name: str
    scope: Literal["read_only", "configuration", "authentication", "full_access", "gateway", "caller"]
    environment: Literal["production", "sandbox"]
    customer_id: Optional[str]
    permissions: list[str]
    allowed_addresses: list[str]
    hint: str
    status: Literal["active", "expired", "revoked"]
    created_by: ActorReference
    created_at: str
    updated_at: str
    expires_at: Optional[str]
    last_used_at: Optional[str]
    revoked_at: Optional[str]
    family_id: str
    rolled_from: Optional[str]
    rolled_to: Optional[str]


class NewApiKey(TypedDict):
    name: str
    scope: Literal["read_only", "configuration", "authentication", "full_access", "gateway", "caller"]
    customer_id: NotRequired[str]
    permissions: NotRequired[list[str]]
    allowed_addresses: NotRequired[list[str]]
    expires_at: NotRequired[str]


class CreatedApiKey(TypedDict):
    id: str
    name: str
    scope: Literal["read_only", "configuration", "authentication", "full_access", "gateway", "caller"]
    environment: Literal["production", "sandbox"]
    customer_id: Optional[str]
    permissions: list[str]
    allowed_addresses: list[str]
    hint: str
    status: Literal["active", "expired", "revoked"]
    created_by: ActorReference
    created_at: str
    updated_at: str
    expires_at: Optional[str]
    last_used_at: Optional[str]
    revoked_at: Optional[str]
    family_id: str
    rolled_from: Optional[str]
    rolled_to: Optional[str]
    key: str


class ApiKeyUpdate(TypedDict):
    name: NotRequired[str]
    allowed_addresses: NotRequired[list[str]]
    expires_at: NotRequired[Optional[str]]


class ApiKeyRoll(TypedDict):
    overlap: NotRequired[int]


class RolledApiKey(TypedDict):
    id: str
    name: str
    scope: Literal["read_only", "configuration", "authentication", "full_access", "gateway", "caller"]
    environment: Literal["production", "sandbox"]
    customer_id: Optional[str]
    permissions: list[str]
    allowed_addresses: list[str]
    hint: str
    status: Literal["active", "expired", "revoked"]
    created_by: ActorReference
    created_at: str
    updated_at: str
    expires_at: Optional[str]
    last_used_at: Optional[str]
    revoked_at: Optional[str]
    family_id: str
    rolled_from: Optional[str]
    rolled_to: Optional[str]
    key: str
    previous: ApiKey


class Client(TypedDict):
    id: str
    name: str
    customer_id: Optional[str]
    scopes: list[str]
    hint: str
    previous_secret_expires_at: Optional[str]
    created_by: ActorReference
    created_at: str
    updated_at: str
    last_used_at: Optional[str]


class NewClient(TypedDict):
    name: str
    customer_id: NotRequired[str]
    scopes: NotRequired[list[str]]


class ClientWithSecret(TypedDict):
    id: str
    name: str
    customer_id: Optional[str]
    scopes: list[str]
    hint: str
    previous_secret_expires_at: Optional[str]
    created_by: ActorReference
    created_at: str
    updated_at: str
    last_used_at: Optional[str]
    client_secret: str


class ClientUpdate(TypedDict):
    name: NotRequired[str]
    scopes: NotRequired[list[str]]


class DeletedClient(TypedDict):
    id: str


class ClientSecretRotation(TypedDict):
    overlap_seconds: NotRequired[int]


class Setup(TypedDict):
    token: str
    email: str
    name: str
    password: str


class DashboardUser(TypedDict):
    id: str
    email: str
    name: str
    role: Literal["owner", "admin", "viewer"]
    status: Literal["active", "invited"]
    created_at: str
    updated_at: str
    last_sign_in_at: Optional[str]


class InvitationAcceptance(TypedDict):
    token: str
    password: str


class Login(TypedDict):
    email: str
    password: str


class DashboardSession(TypedDict):
    user: DashboardUser
    environment: Literal["production", "sandbox"]
    permissions: list[Literal["read", "configure", "authenticate", "gateway", "sandbox", "keys", "team", "self"]]
    csrf_token: str
    expires_at: str


class SignedOut(TypedDict):
    signed_out: Literal[True]


class PasswordChange(TypedDict):
    current_password: str
    new_password: str


class NewDashboardUser(TypedDict):
    email: str
    name: str
    role: Literal["owner", "admin", "viewer"]


class InvitedDashboardUser(TypedDict):
    id: str
    email: str
    name: str
    role: Literal["owner", "admin", "viewer"]
    status: Literal["active", "invited"]
    created_at: str
    updated_at: str
    last_sign_in_at: Optional[str]
    invitation: Invitation


class Invitation(TypedDict):
    url: str
    expires_at: str


class DashboardUserUpdate(TypedDict):
    name: NotRequired[str]
    role: NotRequired[Literal["owner", "admin", "viewer"]]


class DeletedDashboardUser(TypedDict):
    id: str
    deleted: Literal[True]


class GatewayStateCustomersItemAuthentication(TypedDict):
    mfa_required: bool
    mfa_acr_values: NotRequired[list[str]]
    max_session_duration: NotRequired[int]
    allowed_email_domains: list[list[str]]
    allowed_ip_ranges: list[list[str]]


class GatewayStateCustomersItem(TypedDict):
    id: str
    status: Literal["active", "suspended", "archived", "deleted"]
    authentication: GatewayStateCustomersItemAuthentication
    policy_sets: list[str]


class GatewayStateSessionsEndedItem(TypedDict):
    session_id: str
    until: str


class GatewayStateUsersItem(TypedDict):
    id: str
    customer_id: str
    status: Literal["active", "suspended", "deleted"]


class GatewayStatePolicySetsItem(TypedDict):
    name: str
    version: str
    digest: str
    rollout: NotRequired[RolloutTerms]


class GatewayState(TypedDict):
    cursor: str
    complete: bool
    more: NotRequired[bool]
    customers: list[GatewayStateCustomersItem]
    customers_deleted: list[str]
    sessions_ended: list[GatewayStateSessionsEndedItem]
    users: list[GatewayStateUsersItem]
    policy_sets: list[GatewayStatePolicySetsItem]


class RolloutTermsGuard(TypedDict):
    window_ms: int
    min_requests: int
    denial_increase: float
    error_increase: float
    slowdown: int
    ignored_callers: int


class RolloutTerms(TypedDict):
    id: str
    revision: int
    version: str
    digest: str
    mode: Literal["shadow", "enforce"]
    percentage: int
    sticky_by: Literal["user", "customer", "client_ip"]
    guard: Optional[RolloutTermsGuard]


class GatewayPolicySetFilesItem(TypedDict):
    name: str
    text: str


class GatewayPolicySet(TypedDict):
    name: str
    version: str
    digest: str
    files: list[GatewayPolicySetFilesItem]


class GatewayUser(TypedDict):
    id: str
    customer_id: str
    status: Literal["active", "suspended"]


class GatewayCaller(TypedDict):
    hash: str
    id: str
    name: str
    customer_id: str
    permissions: list[str]
    expires_at: str


class GatewayPolicies(TypedDict):
    source: Literal["directory", "control_plane"]
    set: str
    version: Optional[str]
    digest: Optional[str]
    active_digest: Optional[str]
    since: str


class GatewayRolloutDecisions(TypedDict):
    stable: int
    candidate: int


class GatewayRollout(TypedDict):
    digest: str
    mode: Literal["shadow", "enforce"]
    percentage: float
    decisions: NotRequired[GatewayRolloutDecisions]


class GatewayWorkers(TypedDict):
    expected: int
    ready: int


class Gateway(TypedDict):
    id: str
    name: str
    kind: Literal["gateway", "authz"]
    address: str
    version: str
    status: Literal["alive", "lagging", "diverged", "lost"]
    policies: GatewayPolicies
    rollout: Optional[GatewayRollout]
    workers: GatewayWorkers
    clock_offset_ms: int
    started_at: str
    registered_at: str
    last_seen_at: str
    key: str


class GatewayRegistrationPolicies(TypedDict):
    source: Literal["directory", "control_plane"]
    set: str
    version: Optional[str]
    digest: Optional[str]


class GatewayRegistrationRolloutDecisions(TypedDict):
    stable: int
    candidate: int


class GatewayRegistrationRollout(TypedDict):
    digest: str
    mode: Literal["shadow", "enforce"]
    percentage: float
    decisions: NotRequired[GatewayRegistrationRolloutDecisions]


class GatewayRegistrationWorkers(TypedDict):
    expected: int
    ready: int


class GatewayRegistration(TypedDict):
    id: str
    kind: Literal["gateway", "authz"]
    address: str
    version: str
    policies: GatewayRegistrationPolicies
    rollout: Optional[GatewayRegistrationRollout]
    workers: GatewayRegistrationWorkers
    started_at: str
    sent_at: str
    interval_ms: int
    leaving: bool


class TakenRegistration(TypedDict):
    clock_offset_ms: int


class GatewayRecords(TypedDict):
    records: list[Any]


class TakenRecordsRejectedItem(TypedDict):
    index: int
    code: Literal["INVALID_RECORD", "CLOCK_AHEAD", "TOO_OLD"]
    message: str


class TakenRecords(TypedDict):
    accepted: int
    duplicates: int
    rejected: list[TakenRecordsRejectedItem]


class GatewayStatisticsCachesItem(TypedDict):
    name: str
    hits: int
    misses: int
    evictions: int


class GatewayStatisticsAudit(TypedDict):
    decided: int
    recorded: int
    dropped: int


GatewayStatistics = TypedDict(
    "GatewayStatistics",
    {
        "instance": 'str',
        "sequence": 'int',
        "from": 'str',
        "to": 'str',
        "caches": 'list[GatewayStatisticsCachesItem]',
        "audit": 'GatewayStatisticsAudit',
    },
)


class TakenStatistics(TypedDict):
    accepted: bool
    reason: NotRequired[Literal["DUPLICATE", "CLOCK_AHEAD", "TOO_OLD"]]


class SandboxPerson(TypedDict):
    id: str
    customer_id: Optional[str]
    email: str
    name: str
    role: Optional[str]
    department: Optional[str]
    permissions: list[str]
    attributes: dict[str, Any]
    amr: list[str]
    created_at: str


class NewSandboxPerson(TypedDict):
    customer_id: NotRequired[Optional[str]]
    email: str
    name: str
    role: NotRequired[Optional[str]]
    department: NotRequired[Optional[str]]
    permissions: NotRequired[list[str]]
    attributes: NotRequired[dict[str, Union[str, float, bool, list[str]]]]
    amr: NotRequired[list[str]]


class DeletedSandboxPerson(TypedDict):
    id: str
    deleted: Literal[True]


class SandboxSignInPerson(TypedDict):
    email: str
    name: str
    role: NotRequired[Optional[str]]
    department: NotRequired[Optional[str]]
    permissions: NotRequired[list[str]]
    attributes: NotRequired[dict[str, Union[str, float, bool, list[str]]]]
    amr: NotRequired[list[str]]


class SandboxSignIn(TypedDict):
    customer_id: str
    login: NotRequired[str]
    person: NotRequired[SandboxSignInPerson]
    scopes: NotRequired[list[Literal["openid", "profile", "email", "groups"]]]
    expires_in: NotRequired[int]


class SandboxContents(TypedDict):
    customers: int
    people: int
    users: int
    sessions: int
    policies: int
    policy_sets: int
    webhooks: int
    api_keys: int
    decisions: int
    events: int


class FinishSignInQuery(TypedDict):
    state: NotRequired[str]
    code: NotRequired[str]
    iss: NotRequired[str]
    error: NotRequired[str]
    error_description: NotRequired[str]


class LogoutQuery(TypedDict):
    session_id: NotRequired[str]
    user_id: NotRequired[str]
    customer_id: NotRequired[str]
    post_logout_return_url: NotRequired[str]
    state: NotRequired[str]


class ListSessionsQuery(TypedDict):
    page: NotRequired[int]
    limit: NotRequired[int]
    sort: NotRequired[Literal["created_at", "last_used_at", "expires_at"]]
    order: NotRequired[Literal["asc", "desc"]]
    customer_id: NotRequired[str]
    user_id: NotRequired[str]
    status: NotRequired[Literal["active", "expired", "ended"]]
    created_after: NotRequired[str]
    created_before: NotRequired[str]


class ListCustomersQuery(TypedDict):
    page: NotRequired[int]
    limit: NotRequired[int]
    sort: NotRequired[Literal["created_at", "updated_at", "name", "status"]]
    order: NotRequired[Literal["asc", "desc"]]
    status: NotRequired[Literal["active", "suspended", "archived"]]
    name: NotRequired[str]
    external_id: NotRequired[str]
    created_after: NotRequired[str]
    created_before: NotRequired[str]


class ListUsersOfCustomerQuery(TypedDict):
    page: NotRequired[int]
    limit: NotRequired[int]
    sort: NotRequired[Literal["created_at", "updated_at", "email", "last_sign_in_at"]]
    order: NotRequired[Literal["asc", "desc"]]
    status: NotRequired[Literal["active", "suspended"]]
    email: NotRequired[str]
    name: NotRequired[str]
    subject: NotRequired[str]
    created_after: NotRequired[str]
    created_before: NotRequired[str]
    role: NotRequired[str]


class ListUsersQuery(TypedDict):
    page: NotRequired[int]
    limit: NotRequired[int]
    sort: NotRequired[Literal["created_at", "updated_at", "email", "last_sign_in_at"]]
    order: NotRequired[Literal["asc", "desc"]]
    status: NotRequired[Literal["active", "suspended"]]
    email: NotRequired[str]
    name: NotRequired[str]
    subject: NotRequired[str]
    created_after: NotRequired[str]
    created_before: NotRequired[str]
    role: NotRequired[str]
    customer_id: NotRequired[str]


class ListErasuresQuery(TypedDict):
    page: NotRequired[int]
    limit: NotRequired[int]
    sort: NotRequired[Literal["requested_at"]]
    order: NotRequired[Literal["asc", "desc"]]
    kind: NotRequired[Literal["user", "customer", "dashboard_user"]]
    status: NotRequired[Literal["running", "finished"]]
    customer_id: NotRequired[str]


class ListPoliciesQuery(TypedDict):
    page: NotRequired[int]
    limit: NotRequired[int]
    sort: NotRequired[Literal["created_at", "updated_at", "name"]]
    order: NotRequired[Literal["asc", "desc"]]
    type: NotRequired[Literal["authentication", "authorization"]]
    status: NotRequired[Literal["active", "inactive"]]
    name: NotRequired[str]


class ListCustomerPoliciesQuery(TypedDict):
    page: NotRequired[int]
    limit: NotRequired[int]
    sort: NotRequired[Literal["assigned_at", "created_at", "updated_at", "name"]]
    order: NotRequired[Literal["asc", "desc"]]
    type: NotRequired[Literal["authentication", "authorization"]]
    status: NotRequired[Literal["active", "inactive"]]
    name: NotRequired[str]


class ListPolicyCustomersQuery(TypedDict):
    page: NotRequired[int]
    limit: NotRequired[int]
    sort: NotRequired[Literal["assigned_at"]]
    order: NotRequired[Literal["asc", "desc"]]


class ListBulkAssignmentsQuery(TypedDict):
    page: NotRequired[int]
    limit: NotRequired[int]
    sort: NotRequired[Literal["requested_at"]]
    order: NotRequired[Literal["asc", "desc"]]
    policy_id: NotRequired[str]
    status: NotRequired[Literal["running", "finished", "cancelled", "failed"]]


class ListPolicySetsQuery(TypedDict):
    page: NotRequired[int]
    limit: NotRequired[int]
    sort: NotRequired[Literal["created_at", "updated_at", "name"]]
    order: NotRequired[Literal["asc", "desc"]]


class ListPolicySetVersionsQuery(TypedDict):
    page: NotRequired[int]
    limit: NotRequired[int]
    sort: NotRequired[Literal["published_at", "version"]]
    order: NotRequired[Literal["asc", "desc"]]


class ListRolloutsQuery(TypedDict):
    page: NotRequired[int]
    limit: NotRequired[int]
    sort: NotRequired[Literal["started_at"]]
    order: NotRequired[Literal["asc", "desc"]]


GetAnalyticsQuery = TypedDict(
    "GetAnalyticsQuery",
    {
        "from": 'NotRequired[str]',
        "to": 'NotRequired[str]',
        "customer_id": 'NotRequired[str]',
        "interval": 'NotRequired[Literal["minute", "hour", "day"]]',
        "top": 'NotRequired[int]',
    },
)


ListEventsQuery = TypedDict(
    "ListEventsQuery",
    {
        "page": 'NotRequired[int]',
        "limit": 'NotRequired[int]',
        "sort": 'NotRequired[Literal["timestamp"]]',
        "order": 'NotRequired[Literal["asc", "desc"]]',
        "type": 'NotRequired[Literal["user.authenticated", "user.authentication_failed", "user.logged_out", "user.deleted", "session.revoked", "policy.violated", "policy.updated", "policy_set.published", "policy_set.rollout_started", "policy_set.rollout_changed", "policy_set.rollout_promoted", "policy_set.rollout_aborted", "customer.created", "customer.updated", "customer.suspended", "api_key.created", "api_key.revoked", "gateway.lost", "gateway.diverged", "gateway.lagging", "gateway.recovered", "authentication", "session", "policy", "policy_set", "customer", "api_key", "gateway"]]',
        "customer_id": 'NotRequired[str]',
        "user_id": 'NotRequired[str]',
        "from": 'NotRequired[str]',
        "to": 'NotRequired[str]',
        "cursor": 'NotRequired[str]',
    },
)


class GetEventFeedQuery(TypedDict):
    after: NotRequired[str]
    limit: NotRequired[int]
    type: NotRequired[Literal["user.authenticated", "user.authentication_failed", "user.logged_out", "user.deleted", "session.revoked", "policy.violated", "policy.updated", "policy_set.published", "policy_set.rollout_started", "policy_set.rollout_changed", "policy_set.rollout_promoted", "policy_set.rollout_aborted", "customer.created", "customer.updated", "customer.suspended", "api_key.created", "api_key.revoked", "gateway.lost", "gateway.diverged", "gateway.lagging", "gateway.recovered", "authentication", "session", "policy", "policy_set", "customer", "api_key", "gateway"]]
    customer_id: NotRequired[str]


class ListUserActivityQuery(TypedDict):
    page: NotRequired[int]
    limit: NotRequired[int]
    sort: NotRequired[Literal["last_seen_at", "requests", "denied", "sign_ins", "first_seen_at", "user_id"]]
    order: NotRequired[Literal["asc", "desc"]]
    customer_id: NotRequired[str]
    seen_since: NotRequired[str]


ListAuditLogsQuery = TypedDict(
    "ListAuditLogsQuery",
    {
        "page": 'NotRequired[int]',
        "limit": 'NotRequired[int]',
        "sort": 'NotRequired[Literal["timestamp"]]',
        "order": 'NotRequired[Literal["asc", "desc"]]',
        "from": 'NotRequired[str]',
        "to": 'NotRequired[str]',
        "kind": 'NotRequired[str]',
        "customer_id": 'NotRequired[str]',
        "user_id": 'NotRequired[str]',
        "decision": 'NotRequired[Literal["ALLOW", "DENY"]]',
        "reason": 'NotRequired[str]',
        "resource": 'NotRequired[str]',
        "action": 'NotRequired[str]',
        "rule": 'NotRequired[str]',
        "policy_set": 'NotRequired[str]',
        "request_id": 'NotRequired[str]',
        "decision_id": 'NotRequired[str]',
        "ingested_by": 'NotRequired[str]',
        "gateway": 'NotRequired[str]',
        "inputs": 'NotRequired[Literal["true"]]',
        "cursor": 'NotRequired[str]',
        "format": 'NotRequired[Literal["json", "ndjson"]]',
    },
)


class ListWebhooksQuery(TypedDict):
    page: NotRequired[int]
    limit: NotRequired[int]
    sort: NotRequired[Literal["created_at", "updated_at"]]
    order: NotRequired[Literal["asc", "desc"]]
    status: NotRequired[Literal["enabled", "disabled"]]
    customer_id: NotRequired[str]


class ListWebhookDeliveriesQuery(TypedDict):
    page: NotRequired[int]
    limit: NotRequired[int]
    sort: NotRequired[Literal["created_at"]]
    order: NotRequired[Literal["asc", "desc"]]
    status: NotRequired[Literal["pending", "delivering", "delivered", "failed", "cancelled"]]
    type: NotRequired[Literal["user.authenticated", "user.authentication_failed", "user.logged_out", "user.deleted", "session.revoked", "policy.violated", "policy.updated", "policy_set.published", "policy_set.rollout_started", "policy_set.rollout_changed", "policy_set.rollout_promoted", "policy_set.rollout_aborted", "customer.created", "customer.updated", "customer.suspended", "api_key.created", "api_key.revoked", "gateway.lost", "gateway.diverged", "gateway.lagging", "gateway.recovered", "webhook.test"]]


class ListApiKeysQuery(TypedDict):
    page: NotRequired[int]
    limit: NotRequired[int]
    sort: NotRequired[Literal["created_at", "name"]]
    order: NotRequired[Literal["asc", "desc"]]
    status: NotRequired[Literal["active", "expired", "revoked"]]
    scope: NotRequired[Literal["read_only", "configuration", "authentication", "full_access", "gateway", "caller"]]
    customer_id: NotRequired[str]
    family_id: NotRequired[str]


class ListClientsQuery(TypedDict):
    page: NotRequired[int]
    limit: NotRequired[int]
    sort: NotRequired[Literal["created_at", "name"]]
    order: NotRequired[Literal["asc", "desc"]]
    customer_id: NotRequired[str]


class ListDashboardUsersQuery(TypedDict):
    page: NotRequired[int]
    limit: NotRequired[int]
    sort: NotRequired[Literal["created_at", "email", "name"]]
    order: NotRequired[Literal["asc", "desc"]]
    role: NotRequired[Literal["owner", "admin", "viewer"]]
    status: NotRequired[Literal["active", "invited"]]


class FollowStateQuery(TypedDict):
    after: NotRequired[str]
    wait: NotRequired[int]
    pages: NotRequired[Literal["true"]]


class ListGatewaysQuery(TypedDict):
    page: NotRequired[int]
    limit: NotRequired[int]
    sort: NotRequired[Literal["id", "last_seen_at"]]
    order: NotRequired[Literal["asc", "desc"]]
    status: NotRequired[Literal["alive", "lagging", "diverged", "lost"]]
    policy_set: NotRequired[str]


class ListPeopleQuery(TypedDict):
    page: NotRequired[int]
    limit: NotRequired[int]
    sort: NotRequired[Literal["created_at", "name", "email"]]
    order: NotRequired[Literal["asc", "desc"]]
    customer_id: NotRequired[str]
    role: NotRequired[str]
    email: NotRequired[str]


AuditRecord = Union[DecisionRecord, OutcomeRecord, ChangeRecord, ShadowRecord, RolloutRecord, RefusedCallRecord]


NewPolicy = Union[NewAuthenticationPolicy, NewAuthorizationPolicy]


CustomerSelection = Union[CustomerSelection1, CustomerSelection2, CustomerSelection3]
