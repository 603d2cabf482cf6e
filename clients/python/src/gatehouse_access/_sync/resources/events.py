# Made from _async: see clients/README.md.
from __future__ import annotations

from typing import TYPE_CHECKING, Optional

from ..._path import path
from ..transport import Transport

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..._options import CallOptions
    from ...api import EventFeed, GetEventFeedQuery


class Events:
    """The feed of events, in their order, beside webhooks."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def read(
        self, query: Optional[GetEventFeedQuery] = None, **options: Unpack[CallOptions]
    ) -> EventFeed:
        """Follow events: what came after a cursor."""
        answer: EventFeed = self._transport.data("GET", path("/events"), query=query, options=options)
        return answer
