from __future__ import annotations

from typing import TYPE_CHECKING, Optional

from ..._path import path
from ..pages import AsyncPager
from ..transport import AsyncTransport

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..._options import CallOptions
    from ...api import BulkAssignment, ListBulkAssignmentsQuery


class AsyncBulkAssignments:
    """Assignments of a policy to many customers; `policies.assign_in_bulk` starts one."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    def list(
        self, query: Optional[ListBulkAssignmentsQuery] = None, **options: Unpack[CallOptions]
    ) -> AsyncPager[BulkAssignment]:
        """List assignments to many customers."""
        return AsyncPager(self._transport, path("/bulk-assignments"), query, options)

    async def get(self, assignment_id: str, **options: Unpack[CallOptions]) -> BulkAssignment:
        """Read the progress of an assignment to many customers."""
        answer: BulkAssignment = await self._transport.data(
            "GET", path("/bulk-assignments/{}", assignment_id), options=options
        )
        return answer

    async def cancel(self, assignment_id: str, **options: Unpack[CallOptions]) -> BulkAssignment:
        """Cancel an assignment to many customers."""
        answer: BulkAssignment = await self._transport.data(
            "POST", path("/bulk-assignments/{}/cancel", assignment_id), options=options
        )
        return answer
