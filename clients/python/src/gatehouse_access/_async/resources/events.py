from __future__ import annotations

from typing import TYPE_CHECKING, Optional

from ..._path import path
from ..transport import AsyncTransport

if TYPE_CHECKING:
    from typing_extensions import Unpack

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
