from __future__ import annotations

from typing import Optional, TYPE_CHECKING

from ..._path import path
from ..pages import AsyncPager
from ..transport import AsyncTransport

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..._options import CallOptions
    from ...api import (
        Gateway,
        ListGatewaysQuery,
    )


class AsyncGateways:
    """The gateways that have reported."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    def list(self, query: Optional[ListGatewaysQuery] = None, **options: Unpack[CallOptions]) -> AsyncPager[Gateway]:
        """List gateways."""
        return AsyncPager(self._transport, path("/gateways"), query, options)
