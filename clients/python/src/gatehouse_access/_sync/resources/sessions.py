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
        ListSessionsQuery,
        Session,
    )


class Sessions:
    """The users' sessions."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, query: Optional[ListSessionsQuery] = None, **options: Unpack[CallOptions]) -> Pager[Session]:
        """List sessions."""
        return Pager(self._transport, path("/sessions"), query, options)

    def get(self, session_id: str, **options: Unpack[CallOptions]) -> Session:
        """Read a session."""
        answer: Session = self._transport.data("GET", path("/sessions/{}", session_id), options=options)
        return answer

    def revoke(self, session_id: str, **options: Unpack[CallOptions]) -> Session:
        """Revoke a session."""
        answer: Session = self._transport.data("DELETE", path("/sessions/{}", session_id), options=options)
        return answer
