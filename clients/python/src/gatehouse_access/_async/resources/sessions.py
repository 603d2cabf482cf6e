from __future__ import annotations

from typing import Optional, TYPE_CHECKING

from ..._path import path
from ..pages import AsyncPager
from ..transport import AsyncTransport

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..._options import CallOptions
    from ...api import (
        ListSessionsQuery,
        Session,
    )


class AsyncSessions:
    """The users' sessions."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    def list(self, query: Optional[ListSessionsQuery] = None, **options: Unpack[CallOptions]) -> AsyncPager[Session]:
        """List sessions."""
        return AsyncPager(self._transport, path("/sessions"), query, options)

    async def get(self, session_id: str, **options: Unpack[CallOptions]) -> Session:
        """Read a session."""
        answer: Session = await self._transport.data("GET", path("/sessions/{}", session_id), options=options)
        return answer

    async def revoke(self, session_id: str, **options: Unpack[CallOptions]) -> Session:
        """Revoke a session."""
        answer: Session = await self._transport.data("DELETE", path("/sessions/{}", session_id), options=options)
        return answer
