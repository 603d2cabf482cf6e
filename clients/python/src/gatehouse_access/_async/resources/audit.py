from __future__ import annotations

from typing import Optional, TYPE_CHECKING

from ..._path import path
from ..pages import AsyncPager
from ..transport import AsyncTransport

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..._options import CallOptions
    from ...api import (
        AuditRecord,
        ListAuditLogsQuery,
    )


class AsyncAudit:
    """The audit trail."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    def list(self, query: Optional[ListAuditLogsQuery] = None, **options: Unpack[CallOptions]) -> AsyncPager[AuditRecord]:
        """List the audit trail."""
        return AsyncPager(self._transport, path("/audit/logs"), query, options)
