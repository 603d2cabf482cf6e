# Made from _async: see clients/README.md.
from __future__ import annotations

from typing import Optional, TYPE_CHECKING

from ..._path import path
from ..transport import Transport

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


class Auth:
    """Signing users in. `SignIn` does these steps with the checks between them."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def authorize(self, body: SignInRequest, **options: Unpack[CallOptions]) -> StartedSignIn:
        """Start a sign-in."""
        answer: StartedSignIn = self._transport.data("POST", path("/auth/authorize"), body=body, options=options)
        return answer

    def exchange(self, body: CodeExchange, **options: Unpack[CallOptions]) -> Tokens:
        """Exchange a code for tokens."""
        answer: Tokens = self._transport.data("POST", path("/auth/token"), body=body, options=options)
        return answer

    def refresh(self, body: TokenRefresh, **options: Unpack[CallOptions]) -> Tokens:
        """Exchange a refresh token for new tokens."""
        answer: Tokens = self._transport.data("POST", path("/auth/refresh"), body=body, options=options)
        return answer

    def logout(self, body: Optional[LogoutRequest] = None, **options: Unpack[CallOptions]) -> Logout:
        """End sessions."""
        answer: Logout = self._transport.data("DELETE", path("/auth/logout"), body=body, options=options)
        return answer
