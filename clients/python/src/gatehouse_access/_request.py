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
    from .api import Pagination

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


def read(received: Received, attempts: int) -> tuple[Optional[Answer], Optional[ApiError], ApiResponse]:
    """The answer, or the error that it is."""
    status, headers = received.status, received.headers
    envelope: dict[str, Any] = {"success": True, "data": None} if status == 304 else _envelope_of(received.content)
    response = ApiResponse(
        status=status,
        request_id=_members_of(envelope.get("meta")).get("request_id") or headers.get("x-request-id"),
        etag=headers.get("etag"),
        rate_limit=rate_limit_of(headers),
        retry_after=retry_after_of(headers.get("retry-after"), time.time()),
        warnings=envelope.get("warnings") or [],
        attempts=attempts,
        next_cursor=headers.get("x-next-cursor"),
    )
    if envelope.get("success") is True and (200 <= status < 300 or status == 304):
        return Answer(envelope["data"], envelope.get("pagination"), response), None, response
    told: dict[str, Any] = envelope.get("error") or {
        "code": "UNREADABLE_RESPONSE",
        "message": f"the response ({status}) is not one of the API",
    }
    error = error_class(status)(
        code=told["code"],
        status=status,
        message=told.get("message", ""),
        request_id=response.request_id,
        details=told.get("details"),
        retry_after=response.retry_after,
    )
    return None, error, response


def _envelope_of(content: bytes) -> dict[str, Any]:
    """Nothing, for anything that is not the API's envelope."""
    try:
        read_body: object = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(read_body, dict):
        return {}
    body = cast("dict[str, Any]", read_body)
    if body.get("success") is True and "data" in body:
        return body
    told: object = body.get("error")
    if body.get("success") is False and isinstance(_members_of(told).get("code"), str):
        return body
    return {}


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
    backoff: float = random.random() * min(_MAX_SECONDS, _BASE_SECONDS * 2.0**attempt)
    return max(backoff, retry_after or 0.0)
