"""Middleware for ASGI applications: Starlette, FastAPI, Quart, ..."""

from __future__ import annotations

from typing import Any, Awaitable, Callable, MutableMapping, Optional

from ._async.tokens import AsyncTokenVerifier
from ._identity import Identity, Refusal, given_token, identify_async, token_of

__all__ = ["Identity", "RequireIdentity"]

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]


class RequireIdentity:
    """Lets only requests with a valid access token pass; ``scope["gatehouse"]`` is their ``Identity``.

    With ``optional``, requests without a token pass as nobody's. ``token`` reads it from elsewhere than ``Authorization``,
    which is then not read; it returns ``None`` for a request without one. WebSockets are refused before they are accepted.
    """

    def __init__(
        self,
        app: Application,
        verifier: AsyncTokenVerifier,
        *,
        optional: bool = False,
        token: Optional[Callable[[Scope], Optional[str]]] = None,
    ) -> None:
        self._token = token
        self._app = app
        self._verifier = verifier
        self._optional = optional

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] not in ("http", "websocket"):
            # what it is, and whose, nobody knows
            raise RuntimeError(f"{scope['type']} is not supported")
        try:
            scope["gatehouse"] = await identify_async(self._verifier, self._token_of(scope))
        except Refusal as refusal:
            await _refuse(refusal, scope, send)
            return
        await self._app(scope, receive, send)

    def _token_of(self, scope: Scope) -> Optional[str]:
        if self._token is not None:
            return given_token(self._token(scope), self._optional)
        authorization = [value.decode("latin-1") for name, value in scope["headers"] if name.lower() == b"authorization"]
        return token_of(authorization, self._optional)


async def _refuse(refusal: Refusal, scope: Scope, send: Send) -> None:
    if scope["type"] == "websocket":
        # servers answer 403 to a handshake that is not accepted
        await send({"type": "websocket.close", "code": 1008, "reason": refusal.code})
        return
    headers = [(name.encode(), value.encode()) for name, value in refusal.headers.items()]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": refusal.body.encode()})
