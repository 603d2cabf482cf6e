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
        AuditRecord,
        ListAuditLogsQuery,
    )


class Audit:
    """The audit trail."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, query: Optional[ListAuditLogsQuery] = None, **options: Unpack[CallOptions]) -> Pager[AuditRecord]:
        """List the audit trail."""
        return Pager(self._transport, path("/audit/logs"), query, options)
