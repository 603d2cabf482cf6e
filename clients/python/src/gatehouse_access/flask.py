"""Middleware for Flask."""

from __future__ import annotations

from typing import Any, Callable, Optional, Protocol

from ._identity import Identity, Refusal, given_token, identify, token_of
from ._sync.tokens import TokenVerifier

__all__ = ["Identity", "require_identity"]


class _Application(Protocol):
    def before_request(self, f: Callable[[], Any]) -> Any: ...


def require_identity(
    app: _Application,
    verifier: TokenVerifier,
    *,
    optional: bool = False,
    token: Optional[Callable[[Any], Optional[str]]] = None,
) -> None:
    """Lets only requests with a valid access token pass, to an application or a blueprint; ``g.gatehouse`` is their ``Identity``.

    With ``optional``, requests without a token pass as nobody's. ``token`` reads it from elsewhere in the request than
    ``Authorization``, which is then not read; it returns ``None`` for a request without one.
    """
    import flask  # type: ignore[import-not-found,import-untyped,unused-ignore]  # pyright: ignore

    g: Any = flask.g  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    request: Any = flask.request  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]

    def check() -> Optional[tuple[str, int, dict[str, str]]]:
        try:
            found = (
                token_of(request.headers.getlist("authorization"), optional)
                if token is None
                else given_token(token(request), optional)
            )
            g.gatehouse = identify(verifier, found)
        except Refusal as refusal:
            return refusal.body, refusal.status, refusal.headers
        return None

    app.before_request(check)
