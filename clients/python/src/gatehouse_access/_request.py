"""What a call is before it is sent and after it was answered: the same for both clients."""

from __future__ import annotations

import json
import random
import time
import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Mapping, Optional, cast

from ._response import ApiResponse, rate_limit_of, retry_after_of
from .errors import ApiError, ConfigurationError, error_class

if TYPE_CHECKING:
    from ._options import CallOptions
    from .api import Pagination, Warning

#: The largest body of a response: otherwise the sender would decide how much memory is used.
MAX_BODY_BYTES = 100_000_000
_BASE_SECONDS = 0.25
_MAX_SECONDS = 8.0


@dataclass(frozen=True)
class Settings:
    base_url: str
    #: Who calls.
    headers: Mapping[str, str] = field(repr=False)
    timeout: float
    attempt_timeout: float
    max_retries: float


@dataclass(frozen=True)
class Received:
    """A complete answer, whatever it is."""

    status: int
    headers: Mapping[str, str]
    content: bytes


@dataclass(frozen=True)
class Answer:
    data: Any
    pagination: Optional[Pagination]
    response: ApiResponse


def headers_of(
    settings: Settings, method: str, body: object, if_none_match: Optional[str], options: CallOptions
) -> dict[str, str]:
    headers = {**settings.headers, "accept": "application/json"}
    if body is not None:
        headers["content-type"] = "application/json"
    # one key for all attempts, so that only one of them has an effect
    if method == "POST":
        headers["idempotency-key"] = options.get("idempotency_key") or str(uuid.uuid4())
    if "if_match" in options:
        etag = cast(object, options["if_match"])
        # an ETag that was not there: without the header, the call would overwrite what others changed
        if not isinstance(etag, str) or etag == "":
            raise ConfigurationError("`if_match` must be an ETag; leave it out to change the resource regardless")
        headers["if-match"] = etag
    if if_none_match is not None:
        headers["if-none-match"] = if_none_match
    return headers


def content_of(body: object) -> Optional[bytes]:
    try:
        return None if body is None else json.dumps(body, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigurationError(f"the body is not JSON: {error}") from error


def query_of(query: Optional[Mapping[str, object]]) -> dict[str, str]:
    return {name: _text_of(value) for name, value in (query or {}).items() if value is not None}


def _text_of(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def read(
    received: Received, attempts: int, if_none_match: Optional[str]
) -> tuple[Optional[Answer], Optional[ApiError], ApiResponse]:
    """The answer, or the error that it is."""
    status, headers = received.status, received.headers
    is_unchanged = status == 304 and if_none_match is not None
    envelope: dict[str, Any] = {"success": True, "data": None} if is_unchanged else _envelope_of(received.content)
    request_id, warnings = _members_of(envelope.get("meta")).get("request_id"), envelope.get("warnings")
    response = ApiResponse(
        status=status,
        request_id=request_id if isinstance(request_id, str) else headers.get("x-request-id"),
        etag=headers.get("etag"),
        rate_limit=rate_limit_of(headers),
        retry_after=retry_after_of(headers.get("retry-after"), time.time()),
        warnings=cast("list[Warning]", warnings) if isinstance(warnings, list) else [],
        attempts=attempts,
        next_cursor=headers.get("x-next-cursor"),
    )
    if envelope.get("success") is True and (200 <= status < 300 or is_unchanged):
        return Answer(envelope["data"], _pagination_of(envelope), response), None, response
    if "error" not in envelope:
        return None, unreadable(response), response
    told: dict[str, Any] = envelope["error"]
    code: str = told["code"]
    message = told.get("message")
    error = error_class(status, code)(
        code=code,
        status=status,
        message=message if isinstance(message, str) else code,
        request_id=response.request_id,
        details=_members_of(told.get("details")),
        retry_after=response.retry_after,
    )
    return None, error, response


def unreadable(response: ApiResponse) -> ApiError:
    """For a response that is not one of the API: of something in between, or of another server."""
    return error_class(response.status, "UNREADABLE_RESPONSE")(
        code="UNREADABLE_RESPONSE",
        status=response.status,
        message=f"the response ({response.status}) is not one of the API",
        request_id=response.request_id,
        retry_after=response.retry_after,
    )


def _envelope_of(content: bytes) -> dict[str, Any]:
    """Nothing, for anything that is not the API's envelope."""
    try:
        body = _members_of(json.loads(content))
    except (ValueError, RecursionError):
        return {}
    if body.get("success") is True and "data" in body:
        return {name: value for name, value in body.items() if name != "error"}
    if body.get("success") is False and isinstance(_members_of(body.get("error")).get("code"), str):
        return body
    return {}


def _pagination_of(envelope: Mapping[str, Any]) -> Optional[Pagination]:
    found = _members_of(envelope.get("pagination"))
    numbers = (found.get("current_page"), found.get("total_pages"))
    return cast("Pagination", found) if all(isinstance(number, int) for number in numbers) else None


def _members_of(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def is_transient(error: ApiError) -> bool:
    """Whether the same request may be answered otherwise a little later."""
    return error.status in (408, 429) or error.status >= 500 or error.code == "IDEMPOTENCY_CONFLICT"


def delay_of(attempt: int, retry_after: Optional[float]) -> float:
    """How long to wait before the next attempt.

    Exponential, with full jitter, so that clients that failed together do not come back together; never less than the
    server asks for.
    """
    backoff: float = random.random() * min(_MAX_SECONDS, _BASE_SECONDS * 2.0 ** min(attempt, 30))
    return max(backoff, retry_after or 0.0)
