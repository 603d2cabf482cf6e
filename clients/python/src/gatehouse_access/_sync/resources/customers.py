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
        Customer,
        CustomerPatch,
        CustomerUpdate,
        DeletedCustomer,
        ListCustomersQuery,
        NewCustomer,
    )


class Customers:
    """Customers. Their identity providers are in `identity_provider`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, query: Optional[ListCustomersQuery] = None, **options: Unpack[CallOptions]) -> Pager[Customer]:
        """List customers."""
        return Pager(self._transport, path("/customers"), query, options)

    def create(self, body: NewCustomer, **options: Unpack[CallOptions]) -> Customer:
        """Create a customer."""
        answer: Customer = self._transport.data("POST", path("/customers"), body=body, options=options)
        return answer

    def get(self, customer_id: str, **options: Unpack[CallOptions]) -> Customer:
        """Read a customer."""
        answer: Customer = self._transport.data("GET", path("/customers/{}", customer_id), options=options)
        return answer

    def get_if_changed(self, customer_id: str, etag: str, **options: Unpack[CallOptions]) -> Optional[Customer]:
        """The same, or nothing where the resource still has this ETag."""
        answer: Optional[Customer] = self._transport.data("GET", path("/customers/{}", customer_id), if_none_match=etag, options=options)
        return answer

    def update(self, customer_id: str, body: CustomerPatch, **options: Unpack[CallOptions]) -> Customer:
        """Change parts of a customer. Maps such as metadata are merged: `None` removes a name."""
        answer: Customer = self._transport.data("PATCH", path("/customers/{}", customer_id), body=body, options=options)
        return answer

    def put(self, customer_id: str, body: CustomerUpdate, **options: Unpack[CallOptions]) -> Customer:
        """Update a customer: maps such as metadata are replaced, not merged."""
        answer: Customer = self._transport.data("PUT", path("/customers/{}", customer_id), body=body, options=options)
        return answer

    def delete(self, customer_id: str, **options: Unpack[CallOptions]) -> DeletedCustomer:
        """Delete a customer."""
        answer: DeletedCustomer = self._transport.data("DELETE", path("/customers/{}", customer_id), options=options)
        return answer
