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
        Gateway,
        ListGatewaysQuery,
    )


class Gateways:
    """The gateways that have reported."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, query: Optional[ListGatewaysQuery] = None, **options: Unpack[CallOptions]) -> Pager[Gateway]:
        """List gateways."""
        return Pager(self._transport, path("/gateways"), query, options)
