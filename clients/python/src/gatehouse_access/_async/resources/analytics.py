from __future__ import annotations

from typing import Optional, TYPE_CHECKING

from ..._path import path
from ..pages import AsyncPager
from ..transport import AsyncTransport

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..._options import CallOptions
    from ...api import (
        Analytics,
        Event,
        GetAnalyticsQuery,
        ListEventsQuery,
        ListUserActivityQuery,
        UserActivity,
    )


class AsyncAnalyticsReports:
    """Figures, and the history of events."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def dashboard(self, query: Optional[GetAnalyticsQuery] = None, **options: Unpack[CallOptions]) -> Analytics:
        """Read the metrics of the dashboard."""
        answer: Analytics = await self._transport.data("GET", path("/analytics/dashboard"), query=query, options=options)
        return answer

    def events(self, query: Optional[ListEventsQuery] = None, **options: Unpack[CallOptions]) -> AsyncPager[Event]:
        """List the history of events."""
        return AsyncPager(self._transport, path("/analytics/events"), query, options)

    def users(self, query: Optional[ListUserActivityQuery] = None, **options: Unpack[CallOptions]) -> AsyncPager[UserActivity]:
        """List user activity."""
        return AsyncPager(self._transport, path("/analytics/users"), query, options)
