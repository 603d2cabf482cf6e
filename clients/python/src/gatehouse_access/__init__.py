"""Client for the Gatehouse control plane: customers, users, sessions, policies, sign-in, webhooks."""

from __future__ import annotations

from ._async.client import AsyncGatehouse
from ._async.follow import AsyncEventStream
from ._async.pages import AsyncPage, AsyncPager
from ._async.sign_in import AsyncSignIn
from ._async.tokens import AsyncTokenVerifier
from ._follow import EventBatch, FollowOptions
from ._options import CallOptions
from ._response import ApiResponse, RateLimit
from ._settings import DashboardSession, Environment
from ._sign_in import SignedIn, SignInError, SignInProblem, StartedSignInStep, UnverifiedTokensError
from ._sync.client import Gatehouse
from ._sync.follow import EventStream
from ._sync.pages import Page, Pager
from ._sync.sign_in import SignIn
from ._sync.tokens import TokenVerifier
from ._tokens import AccessTokenClaims, TokenError, TokenProblem
from ._version import VERSION as __version__
from .api import ERROR_CODES, ErrorCode
from .errors import (
    ApiError,
    AuthenticationError,
    ConfigurationError,
    ConflictError,
    CursorExpiredError,
    DeadlineExceededError,
    GatehouseError,
    NetworkError,
    NotFoundError,
    PermissionDeniedError,
    PreconditionFailedError,
    RateLimitError,
    ServerError,
    ValidationError,
)
from .webhooks import WebhookEvent, WebhookProblem, WebhookVerificationError, verify_webhook

__all__ = [
    "ERROR_CODES",
    "AccessTokenClaims",
    "ApiError",
    "ApiResponse",
    "AsyncEventStream",
    "AsyncGatehouse",
    "AsyncPage",
    "AsyncPager",
    "AsyncSignIn",
    "AsyncTokenVerifier",
    "AuthenticationError",
    "CallOptions",
    "ConfigurationError",
    "ConflictError",
    "CursorExpiredError",
    "DashboardSession",
    "DeadlineExceededError",
    "Environment",
    "ErrorCode",
    "EventBatch",
    "EventStream",
    "FollowOptions",
    "Gatehouse",
    "GatehouseError",
    "NetworkError",
    "NotFoundError",
    "Page",
    "Pager",
    "PermissionDeniedError",
    "PreconditionFailedError",
    "RateLimit",
    "RateLimitError",
    "ServerError",
    "SignIn",
    "SignInError",
    "SignInProblem",
    "SignedIn",
    "StartedSignInStep",
    "TokenError",
    "TokenProblem",
    "TokenVerifier",
    "UnverifiedTokensError",
    "ValidationError",
    "WebhookEvent",
    "WebhookProblem",
    "WebhookVerificationError",
    "__version__",
    "verify_webhook",
]
