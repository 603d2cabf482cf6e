"""Middleware for Django."""

from __future__ import annotations

from typing import Any, Callable, Optional

from ._identity import Identity, Refusal, given_token, identify, token_of
from ._sync.tokens import TokenVerifier

__all__ = ["Identity", "RequireIdentity"]


class RequireIdentity:
    """Lets only requests with a valid access token pass; ``request.gatehouse`` is their ``Identity``.

    The setting ``GATEHOUSE`` has what ``TokenVerifier`` takes (``issuer``, ``audience``, ...), and ``optional``: whether
    requests without a token pass as nobody's; and ``token``: a function that reads it from elsewhere in the request than
    ``Authorization``, which is then not read, and returns ``None`` for a request without one.
    """

    def __init__(self, get_response: Callable[[Any], Any], verifier: Optional[TokenVerifier] = None) -> None:
        from django.conf import settings  # type: ignore[import-not-found,import-untyped,unused-ignore]  # pyright: ignore

        options = dict(getattr(settings, "GATEHOUSE", {}))  # pyright: ignore[reportUnknownArgumentType]
        self._optional = bool(options.pop("optional", False))
        self._token: Optional[Callable[[Any], Optional[str]]] = options.pop("token", None)
        # without an issuer this raises, and nothing is served
        self._verifier = verifier or TokenVerifier(**options)
        self._get_response = get_response

    def __call__(self, request: Any) -> Any:
        from django.http import HttpResponse  # type: ignore[import-not-found,import-untyped,unused-ignore]  # pyright: ignore

        header = request.META.get("HTTP_AUTHORIZATION")
        try:
            token = (
                token_of([] if header is None else [header], self._optional)
                if self._token is None
                else given_token(self._token(request), self._optional)
            )
            request.gatehouse = identify(self._verifier, token)
        except Refusal as refusal:
            response: Any = HttpResponse(refusal.body.encode(), status=refusal.status)
            for name, value in refusal.headers.items():
                response[name] = value
            return response
        return self._get_response(request)
