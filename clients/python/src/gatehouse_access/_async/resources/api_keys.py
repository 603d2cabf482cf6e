from __future__ import annotations

from typing import Optional, TYPE_CHECKING

from ..._path import path
from ..pages import AsyncPager
from ..transport import AsyncTransport

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..._options import CallOptions
    from ...api import (
        ApiKey,
        ApiKeyRoll,
        ApiKeyUpdate,
        CreatedApiKey,
        ListApiKeysQuery,
        NewApiKey,
        RolledApiKey,
    )


class AsyncApiKeys:
    """API keys. Only dashboard sessions manage keys (`dashboard_session`): a key cannot make another."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    def list(self, query: Optional[ListApiKeysQuery] = None, **options: Unpack[CallOptions]) -> AsyncPager[ApiKey]:
        """List API keys."""
        return AsyncPager(self._transport, path("/api-keys"), query, options)

    async def create(self, body: NewApiKey, **options: Unpack[CallOptions]) -> CreatedApiKey:
        """Create an API key."""
        answer: CreatedApiKey = await self._transport.data("POST", path("/api-keys"), body=body, options=options)
        return answer

    async def get(self, api_key_id: str, **options: Unpack[CallOptions]) -> ApiKey:
        """Read an API key."""
        answer: ApiKey = await self._transport.data("GET", path("/api-keys/{}", api_key_id), options=options)
        return answer

    async def update(self, api_key_id: str, body: ApiKeyUpdate, **options: Unpack[CallOptions]) -> ApiKey:
        """Rename an API key, or change when it expires and from where it may be used. Maps such as metadata are merged: `None` removes a name."""
        answer: ApiKey = await self._transport.data("PATCH", path("/api-keys/{}", api_key_id), body=body, options=options)
        return answer

    async def put(self, api_key_id: str, body: ApiKeyUpdate, **options: Unpack[CallOptions]) -> ApiKey:
        """Rename an API key, or change when it expires and from where it may be used: maps such as metadata are replaced, not merged."""
        answer: ApiKey = await self._transport.data("PUT", path("/api-keys/{}", api_key_id), body=body, options=options)
        return answer

    async def roll(self, api_key_id: str, body: Optional[ApiKeyRoll] = None, **options: Unpack[CallOptions]) -> RolledApiKey:
        """Replace an API key."""
        answer: RolledApiKey = await self._transport.data("POST", path("/api-keys/{}/roll", api_key_id), body=body, options=options)
        return answer

    async def revoke(self, api_key_id: str, **options: Unpack[CallOptions]) -> ApiKey:
        """Revoke an API key."""
        answer: ApiKey = await self._transport.data("DELETE", path("/api-keys/{}", api_key_id), options=options)
        return answer
