from __future__ import annotations

from typing import TYPE_CHECKING, Optional

from ..._path import path
from ..follow import AsyncEventStream
from ..transport import AsyncTransport

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..._follow import FollowOptions
    from ..._options import CallOptions
    from ...api import EventFeed, GetEventFeedQuery


class AsyncEvents:
    """The feed of events, in their order, beside webhooks."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def read(
        self, query: Optional[GetEventFeedQuery] = None, **options: Unpack[CallOptions]
    ) -> EventFeed:
        """Follow events: what came after a cursor."""
        answer: EventFeed = await self._transport.data("GET", path("/events"), query=query, options=options)
        return answer

    def follow(
        self, query: Optional[GetEventFeedQuery] = None, **options: Unpack[FollowOptions]
    ) -> AsyncEventStream:
        """Every event from a cursor on, without an end.

        Begins with the oldest event, or ``after`` a stored cursor, or with what comes after now (``latest``). Each batch has the
        cursor to store once its events are handled: after a crash, begin there, and no event is missed.

        Lost connections, 429 and 5xx are retried as long as they last. Any other error is raised: ``CursorExpiredError`` if
        events after the cursor may be missing.
        """
        return AsyncEventStream(self._transport, query, options)
