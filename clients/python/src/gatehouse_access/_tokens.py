"""What an access token must be (RFC 9068): the same for both verifiers."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import Any, Literal, Mapping, Optional, cast

from ._checks import is_time
from ._ecdsa import Affine, is_on_curve
from ._es256 import verify_es256
from .errors import GatehouseError

#: Of a verified access token: ``sub``, ``customer_id``, ``sid``, ... and the user's attributes.
AccessTokenClaims = dict[str, Any]

#: ``KEYS_UNAVAILABLE`` says nothing about the token: the caller may try again.
TokenProblem = Literal[
    "TOKEN_MISSING",
    "TOKEN_MALFORMED",
    "TOKEN_TYPE",
    "TOKEN_ALGORITHM",
    "TOKEN_KEY_UNKNOWN",
    "TOKEN_SIGNATURE",
    "TOKEN_ISSUER",
    "TOKEN_AUDIENCE",
    "TOKEN_EXPIRED",
    "TOKEN_NOT_YET_VALID",
    "KEYS_UNAVAILABLE",
]


class TokenError(GatehouseError):
    """A token that is not accepted, or that could not be checked."""

    def __init__(self, code: TokenProblem) -> None:
        super().__init__(f"access token refused: {code}")
        self.code: TokenProblem = code


#: The only algorithm of the control plane: which one is used is never up to the token.
_ALGORITHM = "ES256"
_MAX_LENGTH = 16_384


@dataclass(frozen=True)
class UnverifiedToken:
    kid: str
    signed: bytes
    signature: bytes
    payload: str


@dataclass(frozen=True)
class Expected:
    issuer: str
    audience: str
    #: How far clocks may differ, in seconds.
    clock_tolerance: float


def decode_token(token: str) -> UnverifiedToken:
    # callers without types may have none
    parts = token.split(".") if isinstance(token, str) else []  # pyright: ignore[reportUnnecessaryIsInstance]
    if len(parts) != 3 or len(token) > _MAX_LENGTH or not token.isascii():
        raise TokenError("TOKEN_MALFORMED")
    head, payload, signature = parts
    header = _read_json(head)
    if header.get("alg") != _ALGORITHM or "crit" in header:
        raise TokenError("TOKEN_ALGORITHM")
    # an ID token is for the application that signed the user in, and grants nothing
    if header.get("typ") != "at+jwt":
        raise TokenError("TOKEN_TYPE")
    kid = header.get("kid")
    if not isinstance(kid, str):
        raise TokenError("TOKEN_KEY_UNKNOWN")
    return UnverifiedToken(kid, f"{head}.{payload}".encode(), _decode(signature), payload)


def verify_token(token: UnverifiedToken, key: Affine, expected: Expected, now: float) -> AccessTokenClaims:
    if not verify_es256(key, token.signed, token.signature):
        raise TokenError("TOKEN_SIGNATURE")
    claims = _read_json(token.payload)
    if claims.get("iss") != expected.issuer:
        raise TokenError("TOKEN_ISSUER")
    audience = claims.get("aud")
    if audience != expected.audience and not (isinstance(audience, list) and expected.audience in audience):
        raise TokenError("TOKEN_AUDIENCE")
    expiry, not_before = claims.get("exp"), claims.get("nbf")
    if not is_time(expiry) or not is_time(claims.get("iat")) or not _is_text(claims.get("sub")):
        raise TokenError("TOKEN_MALFORMED")
    if not now < cast(float, expiry) + expected.clock_tolerance:
        raise TokenError("TOKEN_EXPIRED")
    if "nbf" in claims and not (is_time(not_before) and now >= cast(float, not_before) - expected.clock_tolerance):
        raise TokenError("TOKEN_NOT_YET_VALID")
    return claims


def read_keys(document: object) -> Mapping[str, Affine]:
    """The usable keys of a JWK set (RFC 7517). Raises ValueError where it is none."""
    listed: object = cast("dict[str, object]", document).get("keys") if isinstance(document, dict) else None
    if not isinstance(listed, list):
        raise ValueError("not a JWK set")
    keys: dict[str, Affine] = {}
    for jwk in cast("list[object]", listed):
        if isinstance(jwk, dict):
            members = cast("dict[str, object]", jwk)
            key, kid = _read_key(members), members.get("kid")
            if key is not None and isinstance(kid, str):
                keys[kid] = key
    return keys


def _read_key(jwk: Mapping[str, object]) -> Optional[Affine]:
    x, y = jwk.get("x"), jwk.get("y")
    if jwk.get("kty") != "EC" or jwk.get("crv") != "P-256":
        return None
    if jwk.get("use", "sig") != "sig" or jwk.get("alg", _ALGORITHM) != _ALGORITHM:
        return None
    if not isinstance(x, str) or not isinstance(y, str):
        return None
    try:
        point = (int.from_bytes(_decode(x), "big"), int.from_bytes(_decode(y), "big"))
    except TokenError:
        return None
    return point if is_on_curve(point) else None


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _decode(text: str) -> bytes:
    try:
        content = base64.b64decode(text.replace("-", "+").replace("_", "/") + "=" * (-len(text) % 4), validate=True)
    except ValueError:
        raise TokenError("TOKEN_MALFORMED") from None
    # one text for the same bytes, and no other
    if base64.urlsafe_b64encode(content).rstrip(b"=").decode() != text:
        raise TokenError("TOKEN_MALFORMED")
    return content


def _read_json(text: str) -> dict[str, Any]:
    content = _decode(text)
    try:
        value: object = json.loads(content.decode())
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise TokenError("TOKEN_MALFORMED")
    return cast("dict[str, Any]", value)
