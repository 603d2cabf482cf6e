"""Who sends a request, according to its access token: the same for every framework.

Only the access token counts: the gateway's identity headers (``x-user-id``, ...) are not signed, and anyone who reaches the
application without the gateway can send them.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Literal, Optional, Sequence

from ._async.tokens import AsyncTokenVerifier
from ._sync.tokens import TokenVerifier
from ._tokens import AccessTokenClaims, TokenError, TokenProblem


@dataclass(frozen=True)
class Identity:
    """A user or a machine client, with a verified token."""

    kind: Literal["user", "machine"]
    id: str
    customer_id: Optional[str]
    session_id: Optional[str]
    claims: AccessTokenClaims


class Refusal(Exception):
    """What to answer in place of the application."""

    def __init__(self, code: TokenProblem) -> None:
        super().__init__(code)
        self.code: TokenProblem = code
        self.status = 503 if code == "KEYS_UNAVAILABLE" else 401
        self.body = json.dumps({"error": {"code": code}})

    @property
    def headers(self) -> dict[str, str]:
        """RFC 6750, section 3."""
        if self.status == 503:
            return {"retry-after": "5", "content-type": "application/json"}
        challenge = "Bearer" if self.code == "TOKEN_MISSING" else 'Bearer error="invalid_token"'
        return {"www-authenticate": challenge, "content-type": "application/json"}


def token_of(authorization: Sequence[str], optional: bool) -> Optional[str]:
    """The token in the values of ``Authorization``; none, where it is optional. Raises ``Refusal``."""
    # which of several somebody in front of the application believed, nobody knows
    if len(authorization) > 1:
        raise Refusal("TOKEN_MALFORMED")
    # not every server removes the white space around a value (RFC 9110, section 5.5)
    value = authorization[0].strip(" \t") if authorization else ""
    if value == "":
        if optional:
            return None
        raise Refusal("TOKEN_MISSING")
    found = re.fullmatch(r"Bearer +([\w.~+/=-]+)", value, re.ASCII | re.IGNORECASE)
    if found is None:
        raise Refusal("TOKEN_MALFORMED")
    return found[1]


def given_token(token: Optional[str], optional: bool) -> Optional[str]:
    """The same for a token that the application's own function found elsewhere."""
    if token or optional:
        return token or None
    raise Refusal("TOKEN_MISSING")


def identify(verifier: TokenVerifier, token: Optional[str]) -> Optional[Identity]:
    """Raises ``Refusal`` for everything that is not a valid token."""
    if token is None:
        return None
    try:
        return identity_of(verifier.verify(token))
    except TokenError as error:
        raise Refusal(error.code) from error


async def identify_async(verifier: AsyncTokenVerifier, token: Optional[str]) -> Optional[Identity]:
    """The same, asynchronous."""
    if token is None:
        return None
    try:
        return identity_of(await verifier.verify(token))
    except TokenError as error:
        raise Refusal(error.code) from error


def identity_of(claims: AccessTokenClaims) -> Identity:
    return Identity(
        kind="machine" if claims.get("principal_type") == "machine" else "user",
        id=claims["sub"],
        customer_id=claims.get("customer_id"),
        session_id=claims.get("sid"),
        claims=claims,
    )
