from __future__ import annotations

from typing import Optional, TYPE_CHECKING

from ..._path import path
from ..pages import AsyncPager
from ..transport import AsyncTransport

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..._options import CallOptions
    from ...api import (
        Erasure,
        ListErasuresQuery,
    )


class AsyncErasures:
    """The erasure of what is known of deleted users and customers."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    def list(self, query: Optional[ListErasuresQuery] = None, **options: Unpack[CallOptions]) -> AsyncPager[Erasure]:
        """List erasures."""
        return AsyncPager(self._transport, path("/erasures"), query, options)

    async def get(self, erasure_id: str, **options: Unpack[CallOptions]) -> Erasure:
        """Read the progress of an erasure."""
        answer: Erasure = await self._transport.data("GET", path("/erasures/{}", erasure_id), options=options)
        return answer
