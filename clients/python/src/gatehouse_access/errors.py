"""Everything that this library raises."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence, cast

if TYPE_CHECKING:
    from typing import TypedDict

    class FieldProblem(TypedDict):
        path: str
        message: str


class GatehouseError(Exception):
    """Anything that this library raises."""

    def __reduce__(self) -> tuple[Any, ...]:
        # by default, an error is made again from its message alone
        return _restore, (type(self), self.args, self.__dict__)


def _restore(kind: type[GatehouseError], args: tuple[Any, ...], members: dict[str, Any]) -> GatehouseError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(members)
    return error


class ConfigurationError(GatehouseError):
    """The client or a helper was set up or called in a way that cannot work."""


class NetworkError(GatehouseError):
    """No complete response arrived, and no attempts are left."""


class DeadlineExceededError(GatehouseError):
    """The call took longer than its ``timeout``."""


class ApiError(GatehouseError):
    """An error response of the API. Compare ``code``; ``message`` is for people and may change."""

    def __init__(
        self,
        *,
        code: str,
        status: int,
        message: str,
        request_id: Optional[str] = None,
        details: Optional[Mapping[str, Any]] = None,
        retry_after: Optional[float] = None,
    ) -> None:
        super().__init__(f"{code}: {message}")
        #: One of ``ERROR_CODES``, or one that a later server knows; ``UNREADABLE_RESPONSE`` for what is not the API's JSON.
        self.code = code
        self.status = status
        self.message = message
        #: Quote it when you ask for help.
        self.request_id = request_id
        self.details: Mapping[str, Any] = details or {}
        #: How long the server asks to wait, in seconds.
        self.retry_after = retry_after


class AuthenticationError(ApiError):
    """401: no valid key, session, code or refresh token."""


class PermissionDeniedError(ApiError):
    """403"""


class NotFoundError(ApiError):
    """404"""


class ConflictError(ApiError):
    """409"""


class CursorExpiredError(ApiError):
    """``CURSOR_EXPIRED`` (410): events after the cursor may be missing.

    Read the feed from the beginning and skip what you know, or from ``latest``.
    """


class PreconditionFailedError(ApiError):
    """412: the resource has changed since the ETag in ``if_match``."""


class ValidationError(ApiError):
    """422: the request was read, but is not valid."""

    @property
    def fields(self) -> Sequence[FieldProblem]:
        """The invalid fields of the body."""
        fields: Any = self.details.get("fields")
        return cast("Sequence[FieldProblem]", fields) if isinstance(fields, list) else []


class RateLimitError(ApiError):
    """429"""


class ServerError(ApiError):
    """5xx"""


_BY_STATUS: Mapping[int, type[ApiError]] = {
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: ConflictError,
    412: PreconditionFailedError,
    422: ValidationError,
    429: RateLimitError,
}


def error_class(status: int, code: str) -> type[ApiError]:
    """The class of the errors with a status or code."""
    if code == "CURSOR_EXPIRED":
        return CursorExpiredError
    return _BY_STATUS.get(status, ServerError if status >= 500 else ApiError)
