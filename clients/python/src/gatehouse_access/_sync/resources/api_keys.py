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
        ApiKey,
        ApiKeyRoll,
        ApiKeyUpdate,
        CreatedApiKey,
        ListApiKeysQuery,
        NewApiKey,
        RolledApiKey,
    )


class ApiKeys:
    """API keys. Only dashboard sessions manage keys (`dashboard_session`): a key cannot make another."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, query: Optional[ListApiKeysQuery] = None, **options: Unpack[CallOptions]) -> Pager[ApiKey]:
        """List API keys."""
        return Pager(self._transport, path("/api-keys"), query, options)

    def create(self, body: NewApiKey, **options: Unpack[CallOptions]) -> CreatedApiKey:
        """Create an API key."""
        answer: CreatedApiKey = self._transport.data("POST", path("/api-keys"), body=body, options=options)
        return answer

    def get(self, api_key_id: str, **options: Unpack[CallOptions]) -> ApiKey:
        """Read an API key."""
        answer: ApiKey = self._transport.data("GET", path("/api-keys/{}", api_key_id), options=options)
        return answer

    def update(self, api_key_id: str, body: ApiKeyUpdate, **options: Unpack[CallOptions]) -> ApiKey:
        """Rename an API key, or change when it expires and from where it may be used. Maps such as metadata are merged: `None` removes a name."""
        answer: ApiKey = self._transport.data("PATCH", path("/api-keys/{}", api_key_id), body=body, options=options)
        return answer

    def put(self, api_key_id: str, body: ApiKeyUpdate, **options: Unpack[CallOptions]) -> ApiKey:
        """Rename an API key, or change when it expires and from where it may be used: maps such as metadata are replaced, not merged."""
        answer: ApiKey = self._transport.data("PUT", path("/api-keys/{}", api_key_id), body=body, options=options)
        return answer

    def roll(self, api_key_id: str, body: Optional[ApiKeyRoll] = None, **options: Unpack[CallOptions]) -> RolledApiKey:
        """Replace an API key."""
        answer: RolledApiKey = self._transport.data("POST", path("/api-keys/{}/roll", api_key_id), body=body, options=options)
        return answer

    def revoke(self, api_key_id: str, **options: Unpack[CallOptions]) -> ApiKey:
        """Revoke an API key."""
        answer: ApiKey = self._transport.data("DELETE", path("/api-keys/{}", api_key_id), options=options)
        return answer
