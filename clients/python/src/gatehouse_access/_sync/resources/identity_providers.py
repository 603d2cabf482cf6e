# Made from _async: see clients/README.md.
from __future__ import annotations

from typing import Optional, TYPE_CHECKING

from ..._path import path
from ..transport import Transport

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..._options import CallOptions
    from ...api import (
        DeletedIdentityProvider,
        IdentityProvider,
        IdpTest,
        IdpTestRequest,
        NewIdentityProvider,
    )


class IdentityProviders:
    """The identity provider of each customer."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def get(self, customer_id: str, **options: Unpack[CallOptions]) -> IdentityProvider:
        """Read a customer's identity provider."""
        answer: IdentityProvider = self._transport.data("GET", path("/customers/{}/idp", customer_id), options=options)
        return answer

    def get_if_changed(self, customer_id: str, etag: str, **options: Unpack[CallOptions]) -> Optional[IdentityProvider]:
        """The same, or nothing where the resource still has this ETag."""
        answer: Optional[IdentityProvider] = self._transport.data("GET", path("/customers/{}/idp", customer_id), if_none_match=etag, options=options)
        return answer

    def configure(self, customer_id: str, body: NewIdentityProvider, **options: Unpack[CallOptions]) -> IdentityProvider:
        """Configure a customer's identity provider."""
        answer: IdentityProvider = self._transport.data("POST", path("/customers/{}/idp", customer_id), body=body, options=options)
        return answer

    def test(self, customer_id: str, body: IdpTestRequest, **options: Unpack[CallOptions]) -> IdpTest:
        """Test a customer's identity provider."""
        answer: IdpTest = self._transport.data("POST", path("/customers/{}/idp/test", customer_id), body=body, options=options)
        return answer

    def delete(self, customer_id: str, **options: Unpack[CallOptions]) -> DeletedIdentityProvider:
        """Delete a customer's identity provider."""
        answer: DeletedIdentityProvider = self._transport.data("DELETE", path("/customers/{}/idp", customer_id), options=options)
        return answer
