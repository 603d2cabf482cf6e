# Made from _async: see clients/README.md.
from __future__ import annotations

import time
from typing import Callable, Optional

import httpx

from .._background import Background
from .._checks import check_number, check_text
from .._ecdsa import Affine
from .._keys import MAX_BYTES, TIMEOUT_SECONDS, KeyCache
from .._limit import TimeLimit
from .._tokens import AccessTokenClaims, Expected, TokenError, decode_token, verify_token


class TokenVerifier:
    """Verifies access tokens of a control plane.

    It does not ask whether the session has ended: the gateway does, and without one a token is good until it expires.

    ``issuer`` is the control plane's ``public_url``, exactly, ``audience`` its ``sign_in.audience``. Fetched keys are used
    for ``cache_seconds``; two requests for them are at least ``cooldown_seconds`` apart, so that tokens with made-up key ids
    cost the issuer nothing; after one that failed, 1 to 2 seconds.
    """

    def __init__(
        self,
        *,
        issuer: str,
        audience: str = "gatehouse",
        jwks_url: Optional[str] = None,
        cache_seconds: float = 300.0,
        cooldown_seconds: float = 30.0,
        clock_tolerance: float = 5.0,
        http_client: Optional[httpx.Client] = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._expected = Expected(
            check_text("issuer", issuer),
            check_text("audience", audience),
            check_number("clock_tolerance", clock_tolerance),
        )
        self._url = jwks_url or f"{issuer.rstrip('/')}/.well-known/jwks.json"
        self._http_client = http_client
        self._clock = clock
        self._cache = KeyCache(
            check_number("cache_seconds", cache_seconds), check_number("cooldown_seconds", cooldown_seconds)
        )
        self._refreshing = Background(self._refresh)

    def verify(self, token: str) -> AccessTokenClaims:
        """The claims of the token. Raises ``TokenError``."""
        decoded = decode_token(token)
        key = self._find(decoded.kid)
        if key is None:
            raise TokenError("TOKEN_KEY_UNKNOWN")
        return verify_token(decoded, key, self._expected, self._clock())

    def load_keys(self) -> None:
        """Fetches the keys, unless it has them: what comes next then does not fail for want of keys. Raises ``TokenError``."""
        now = time.monotonic()
        if (self._cache.usable(now) is None or self._cache.is_old(now)) and self._cache.may_fetch(now):
            self._refreshing.run(TIMEOUT_SECONDS)
        if self._cache.usable(time.monotonic()) is None:
            raise TokenError("KEYS_UNAVAILABLE")

    def _find(self, kid: str) -> Optional[Affine]:
        now = time.monotonic()
        known = (self._cache.usable(now) or {}).get(kid)
        if known is not None:
            # nobody waits for what is not needed yet
            if self._cache.is_old(now) and self._cache.may_fetch(now):
                self._refreshing.start()
            return known
        if self._cache.may_fetch(now):
            self._refreshing.run(TIMEOUT_SECONDS)
        return self._cache.find(kid, time.monotonic())

    def _refresh(self) -> None:
        # who waited for another one's request needs none
        if not self._cache.may_fetch(time.monotonic()):
            return
        try:
            content = self._get()
            self._cache.succeed(content, time.monotonic())
        except Exception:  # whatever it is, those from before are used meanwhile
            self._cache.fail(time.monotonic())

    def _get(self) -> bytes:
        if self._http_client is not None:
            return self._read(self._http_client)
        with httpx.Client() as client:
            return self._read(client)

    def _read(self, client: httpx.Client) -> bytes:
        content = b""
        with TimeLimit(TIMEOUT_SECONDS) as limit:
            with client.stream(
                "GET", self._url, timeout=TIMEOUT_SECONDS, follow_redirects=False
            ) as response:
                if response.status_code != 200:
                    raise ValueError(f"status {response.status_code}")
                limit.watch(response)
                for chunk in response.iter_bytes():
                    content += chunk
                    if len(content) > MAX_BYTES:
                        raise ValueError(f"more than {MAX_BYTES} bytes")
        return content
