"""The published keys of an issuer (RFC 7517), and when to fetch them: the same for both verifiers."""

from __future__ import annotations

import json
import random
from typing import Mapping, Optional

from ._ecdsa import Affine
from ._tokens import TokenError, read_keys

#: Keys outlive what they were fetched for by so much while the issuer does not answer.
_STALE_SECONDS = 3600.0
#: The longest that a request for keys may take.
TIMEOUT_SECONDS = 5.0
#: The largest set of keys: otherwise the sender would decide how much memory is used.
MAX_BYTES = 1_000_000


class KeyCache:
    """Keys, and what is known of the last request for them. Times are of a clock that nobody sets.

    They are fetched first, when they are old, and for an unknown key id; but not again within the cooldown, so that tokens
    with made-up key ids cost the issuer nothing. After a fetch that failed, the cooldown is 1 to 2 seconds.
    """

    def __init__(self, cache_seconds: float, cooldown_seconds: float) -> None:
        self._cache_seconds = cache_seconds
        self._cooldown_seconds = cooldown_seconds
        self._keys: Optional[Mapping[str, Affine]] = None
        self._fetched_at = float("-inf")
        self._next_at = float("-inf")
        self._failed = False

    def usable(self, now: float) -> Optional[Mapping[str, Affine]]:
        return self._keys if now - self._fetched_at <= _STALE_SECONDS + self._cache_seconds else None

    def is_old(self, now: float) -> bool:
        return not now - self._fetched_at <= self._cache_seconds

    def may_fetch(self, now: float) -> bool:
        return now >= self._next_at

    def find(self, kid: str, now: float) -> Optional[Affine]:
        """The key, after a request for it. Raises ``TokenError`` if nobody can say whether there is such a key."""
        keys = self.usable(now)
        key = None if keys is None else keys.get(kid)
        if key is None and (keys is None or self._failed):
            raise TokenError("KEYS_UNAVAILABLE")
        return key

    def succeed(self, content: bytes, now: float) -> None:
        """Raises ``ValueError`` or ``RecursionError`` for what is not a set of keys."""
        self._keys = read_keys(json.loads(content))
        self._failed = False
        self._fetched_at = now
        self._next_at = now + self._cooldown_seconds

    def fail(self, now: float) -> None:
        """Those from before are used meanwhile."""
        self._failed = True
        self._next_at = now + 1.0 + random.random()
