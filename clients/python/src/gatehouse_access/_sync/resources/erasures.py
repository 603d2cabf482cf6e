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
        Erasure,
        ListErasuresQuery,
    )


class Erasures:
    """The erasure of what is known of deleted users and customers."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, query: Optional[ListErasuresQuery] = None, **options: Unpack[CallOptions]) -> Pager[Erasure]:
        """List erasures."""
        return Pager(self._transport, path("/erasures"), query, options)

    def get(self, erasure_id: str, **options: Unpack[CallOptions]) -> Erasure:
        """Read the progress of an erasure."""
        answer: Erasure = self._transport.data("GET", path("/erasures/{}", erasure_id), options=options)
        return answer
