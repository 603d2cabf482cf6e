# Made from _async: see clients/README.md.
from __future__ import annotations

import threading
import time
from typing import Callable, Mapping, Optional

import httpx

from .._ecdsa import Affine
from .._tokens import AccessTokenClaims, Expected, TokenError, decode_token, read_keys, verify_token

#: Keys outlive what they were fetched for by so much while the issuer does not answer.
_STALE_SECONDS = 3600.0
_TIMEOUT_SECONDS = 5.0


class TokenVerifier:
    """Verifies access tokens of a control plane.

    It does not ask whether the session has ended: the gateway does, and without one a token is good until it expires.

    ``issuer`` is the control plane's ``public_url``, exactly, ``audience`` its ``sign_in.audience``. Fetched keys are used
    for ``cache_seconds``; two requests for them are at least ``cooldown_seconds`` apart, so that tokens with made-up key ids
    cost the issuer nothing.
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
        self._expected = Expected(issuer, audience, clock_tolerance)
        self._url = jwks_url or f"{issuer.rstrip('/')}/.well-known/jwks.json"
        self._cache_seconds = cache_seconds
        self._cooldown_seconds = cooldown_seconds
        self._http_client = http_client
        self._clock = clock
        self._keys: Optional[Mapping[str, Affine]] = None
        self._fetched_at = float("-inf")
        self._tried_at = float("-inf")
        self._lock = threading.Lock()

    def verify(self, token: str) -> AccessTokenClaims:
        """The claims of the token. Raises ``TokenError``."""
        decoded = decode_token(token)
        key = self._find(decoded.kid)
        if key is None:
            raise TokenError("TOKEN_KEY_UNKNOWN")
        return verify_token(decoded, key, self._expected, self._clock())

    def _find(self, kid: str) -> Optional[Affine]:
        if self._age() > self._cache_seconds or self._keys is None or kid not in self._keys:
            with self._lock:
                # who waited for another one's request needs none
                if self._clock() - self._tried_at >= self._cooldown_seconds:
                    self._fetch()
        if self._keys is None or self._age() > _STALE_SECONDS + self._cache_seconds:
            raise TokenError("KEYS_UNAVAILABLE")
        return self._keys.get(kid)

    def _age(self) -> float:
        return self._clock() - self._fetched_at

    def _fetch(self) -> None:
        self._tried_at = self._clock()
        try:
            response = self._get()
            if response.status_code == 200:
                self._keys = read_keys(response.json())
                self._fetched_at = self._clock()
        except (httpx.HTTPError, ValueError):
            # those from before are used meanwhile
            pass

    def _get(self) -> httpx.Response:
        if self._http_client is not None:
            return self._http_client.get(self._url, timeout=_TIMEOUT_SECONDS, follow_redirects=False)
        with httpx.Client(timeout=_TIMEOUT_SECONDS, follow_redirects=False) as client:
            return client.get(self._url)
