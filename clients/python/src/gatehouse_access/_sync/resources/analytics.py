# Made from _async: see clients/README.md.
from __future__ import annotations

from typing import Optional, TYPE_CHECKING

from ..._path import path
from ..pages import Pager
from ..transport import Transport

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


class AnalyticsReports:
    """Figures, and the history of events."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def dashboard(self, query: Optional[GetAnalyticsQuery] = None, **options: Unpack[CallOptions]) -> Analytics:
        """Read the metrics of the dashboard."""
        answer: Analytics = self._transport.data("GET", path("/analytics/dashboard"), query=query, options=options)
        return answer

    def events(self, query: Optional[ListEventsQuery] = None, **options: Unpack[CallOptions]) -> Pager[Event]:
        """List the history of events."""
        return Pager(self._transport, path("/analytics/events"), query, options)

    def users(self, query: Optional[ListUserActivityQuery] = None, **options: Unpack[CallOptions]) -> Pager[UserActivity]:
        """List user activity."""
        return Pager(self._transport, path("/analytics/users"), query, options)
