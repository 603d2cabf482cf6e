from __future__ import annotations

from typing import Optional, TYPE_CHECKING

from ..._path import path
from ..pages import AsyncPager
from ..transport import AsyncTransport

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..._options import CallOptions
    from ...api import (
        Client,
        ClientSecretRotation,
        ClientUpdate,
        ClientWithSecret,
        DeletedClient,
        ListClientsQuery,
        NewClient,
    )


class AsyncClients:
    """Machine clients. Only dashboard sessions manage them (`dashboard_session`)."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    def list(self, query: Optional[ListClientsQuery] = None, **options: Unpack[CallOptions]) -> AsyncPager[Client]:
        """List machine clients."""
        return AsyncPager(self._transport, path("/clients"), query, options)

    async def create(self, body: NewClient, **options: Unpack[CallOptions]) -> ClientWithSecret:
        """Create a machine client."""
        answer: ClientWithSecret = await self._transport.data("POST", path("/clients"), body=body, options=options)
        return answer

    async def get(self, client_id: str, **options: Unpack[CallOptions]) -> Client:
        """Read a machine client."""
        answer: Client = await self._transport.data("GET", path("/clients/{}", client_id), options=options)
        return answer

    async def update(self, client_id: str, body: ClientUpdate, **options: Unpack[CallOptions]) -> Client:
        """Change a machine client's name or scopes. Maps such as metadata are merged: `None` removes a name."""
        answer: Client = await self._transport.data("PATCH", path("/clients/{}", client_id), body=body, options=options)
        return answer

    async def put(self, client_id: str, body: ClientUpdate, **options: Unpack[CallOptions]) -> Client:
        """Change a machine client's name or scopes: maps such as metadata are replaced, not merged."""
        answer: Client = await self._transport.data("PUT", path("/clients/{}", client_id), body=body, options=options)
        return answer

    async def delete(self, client_id: str, **options: Unpack[CallOptions]) -> DeletedClient:
        """Delete a machine client."""
        answer: DeletedClient = await self._transport.data("DELETE", path("/clients/{}", client_id), options=options)
        return answer

    async def rotate_secret(self, client_id: str, body: Optional[ClientSecretRotation] = None, **options: Unpack[CallOptions]) -> ClientWithSecret:
        """Replace a machine client's secret."""
        answer: ClientWithSecret = await self._transport.data("POST", path("/clients/{}/rotate-secret", client_id), body=body, options=options)
        return answer
