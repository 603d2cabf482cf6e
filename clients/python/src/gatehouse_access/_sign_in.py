from __future__ import annotations

import hmac
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Optional
from urllib.parse import parse_qs

from ._tokens import AccessTokenClaims, TokenError
from .errors import GatehouseError

if TYPE_CHECKING:
    from .api import Tokens

SignInProblem = Literal["STATE_MISSING", "STATE_MISMATCH", "REFUSED", "CODE_MISSING"]


class SignInError(GatehouseError):
    """A sign-in that did not succeed."""

    def __init__(self, code: SignInProblem, reason: Optional[str] = None) -> None:
        super().__init__(f"sign-in failed: {reason or code}")
        self.code: SignInProblem = code
        #: ``REFUSED``: the reason code that the control plane sent back.
        self.reason = reason


class UnverifiedTokensError(TokenError):
    """The control plane gave tokens, but the access token could not be verified.

    A code or refresh token is used up by then: on ``KEYS_UNAVAILABLE``, keep ``tokens`` and verify the access
    token later.
    """

    def __init__(self, tokens: Tokens, cause: TokenError) -> None:
        super().__init__(cause.code)
        self.tokens = tokens


@dataclass(frozen=True)
class StartedSignInStep:
    #: Where to send the browser. The state is in it.
    url: str = field(repr=False)
    #: Store it in the browser's session: ``finish`` needs it.
    state: str = field(repr=False)


@dataclass(frozen=True)
class SignedIn:
    tokens: Tokens = field(repr=False)
    #: Of the access token.
    claims: AccessTokenClaims


def code_of(callback: str, state: Optional[str]) -> str:
    """The code in the URL to which the browser came back."""
    text = callback.split("?", 1)[-1].split("#", 1)[0]
    query = parse_qs(text, keep_blank_values=True)
    if not state:
        raise SignInError("STATE_MISSING")
    # first: else somebody could sign this browser in to an account of their own
    given = query.get("state", [""])[0]
    if not hmac.compare_digest(given.encode("utf-8", "surrogatepass"), state.encode("utf-8", "surrogatepass")):
        raise SignInError("STATE_MISMATCH")
    if "error" in query:
        raise SignInError("REFUSED", query["error"][0])
    code = query.get("code", [""])[0]
    if code == "":
        raise SignInError("CODE_MISSING")
    return code
