"""How the feed of events is followed: the same for both clients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Optional, Sequence, TypedDict, cast

from ._options import CallOptions
from ._request import Answer, delay_of, is_transient, unreadable
from ._response import ApiResponse
from .errors import ApiError, DeadlineExceededError, GatehouseError, NetworkError

if TYPE_CHECKING:
    from .api import Event, EventFeed

SHORTEST_PAUSE = 0.5
#: Whatever ``Retry-After`` says.
_LONGEST_PAUSE = 3600.0


@dataclass(frozen=True)
class EventBatch:
    """A part of the feed."""

    #: In the order of the feed. There may be none.
    events: Sequence[Event]
    #: Store it after the events are handled, also if there are none: the next ``follow`` begins ``after`` it.
    cursor: str


class FollowOptions(TypedDict, total=False):
    """What ``events.follow`` takes besides its query."""

    #: The longest that one request may take, in seconds. Default: 60, or the client's.
    timeout: float
    #: Is told about each response, error responses included.
    on_response: Callable[[ApiResponse], None]
    #: The longest pause between two requests while there are no events, in seconds. Default: 5.
    poll: float
    #: Is told why a request failed, before it is repeated.
    on_retry: Callable[[GatehouseError], None]


def call_options_of(options: FollowOptions) -> CallOptions:
    # retries are counted here, and not limited
    found: CallOptions = {"max_retries": 0}
    if "timeout" in options:
        found["timeout"] = options["timeout"]
    if "on_response" in options:
        found["on_response"] = options["on_response"]
    return found


def feed_of(answer: Answer) -> EventFeed:
    """Raises ``ApiError`` for what is no part of the feed."""
    data: Any = answer.data
    if isinstance(data, dict):
        feed = cast("dict[str, Any]", data)
        if isinstance(feed.get("events"), list) and isinstance(feed.get("cursor"), str):
            return cast("EventFeed", feed)
    raise unreadable(answer.response)


def pause_after(feed: EventFeed, before: Optional[str], idle: int, poll: float) -> float:
    """How long to wait after the ``idle``-th answer without events in succession, which was asked for ``before`` its cursor."""
    # a cursor that stands still would be asked for without a pause
    if feed.get("more") and feed["cursor"] != before:
        return 0.0
    return min(poll, SHORTEST_PAUSE * 2.0 ** min(idle, 30))


def pause_before_retry(error: GatehouseError, failures: int) -> float:
    """How long to wait after so many earlier failures. Raises the error, if it is not a temporary one."""
    wanted = None
    if isinstance(error, ApiError):
        if not is_transient(error):
            raise error
        wanted = error.retry_after
    elif not isinstance(error, (NetworkError, DeadlineExceededError)):
        raise error
    return min(delay_of(failures, wanted), _LONGEST_PAUSE)
