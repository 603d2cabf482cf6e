from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Mapping, Optional, Sequence

if TYPE_CHECKING:
    from .api import Warning


@dataclass(frozen=True)
class RateLimit:
    """The state of the limit that the call counted towards."""

    #: Requests per minute.
    limit: int
    remaining: int
    resets_at: datetime


@dataclass(frozen=True)
class ApiResponse:
    """A response without its content."""

    status: int
    request_id: Optional[str]
    #: For ``if_match``, and for ``get_if_changed``.
    etag: Optional[str]
    rate_limit: Optional[RateLimit]
    #: How long the server asks to wait, in seconds.
    retry_after: Optional[float]
    #: The request was carried out, but may not have the intended effect.
    warnings: Sequence[Warning]
    #: The number of requests that it took.
    attempts: int
    next_cursor: Optional[str]


def rate_limit_of(headers: Mapping[str, str]) -> Optional[RateLimit]:
    try:
        limit, remaining, reset = (int(headers[f"x-ratelimit-{name}"]) for name in ("limit", "remaining", "reset"))
        return RateLimit(limit, remaining, datetime.fromtimestamp(reset, timezone.utc))
    except (KeyError, ValueError, OverflowError, OSError):
        # also a time that no date has
        return None


def retry_after_of(header: Optional[str], now: float) -> Optional[float]:
    """``Retry-After`` (RFC 9110, section 10.2.3): seconds or a date."""
    if header is None:
        return None
    if header.isascii() and header.isdigit():
        return float(header)
    try:
        date = parsedate_to_datetime(header)
        # the third form of a date (RFC 9110, section 5.6.7) names no time zone
        return max(0.0, (date if date.tzinfo else date.replace(tzinfo=timezone.utc)).timestamp() - now)
    except (TypeError, ValueError, OverflowError):
        return None
