from __future__ import annotations

from typing import Optional, TYPE_CHECKING

from ..._path import path
from ..transport import AsyncTransport

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..._options import CallOptions
    from ...api import (
        CodeExchange,
        Logout,
        LogoutRequest,
        SignInRequest,
        StartedSignIn,
        TokenRefresh,
        Tokens,
    )


class AsyncAuth:
    """Signing users in. `AsyncSignIn` does these steps with the checks between them."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def authorize(self, body: SignInRequest, **options: Unpack[CallOptions]) -> StartedSignIn:
        """Start a sign-in."""
        answer: StartedSignIn = await self._transport.data("POST", path("/auth/authorize"), body=body, options=options)
        return answer

    async def exchange(self, body: CodeExchange, **options: Unpack[CallOptions]) -> Tokens:
        """Exchange a code for tokens."""
        answer: Tokens = await self._transport.data("POST", path("/auth/token"), body=body, options=options)
        return answer

    async def refresh(self, body: TokenRefresh, **options: Unpack[CallOptions]) -> Tokens:
        """Exchange a refresh token for new tokens."""
        answer: Tokens = await self._transport.data("POST", path("/auth/refresh"), body=body, options=options)
        return answer

    async def logout(self, body: Optional[LogoutRequest] = None, **options: Unpack[CallOptions]) -> Logout:
        """End sessions."""
        answer: Logout = await self._transport.data("DELETE", path("/auth/logout"), body=body, options=options)
        return answer
