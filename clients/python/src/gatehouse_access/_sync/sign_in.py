# Made from _async: see clients/README.md.
from __future__ import annotations

from typing import TYPE_CHECKING, Optional

from .._sign_in import SignedIn, StartedSignInStep, UnverifiedTokensError, code_of
from .._tokens import TokenError
from .client import Gatehouse
from .tokens import TokenVerifier

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._options import CallOptions
    from ..api import CodeExchange, SignInRequest, Tokens


class SignIn:
    """Signs users in: ``start``, send the browser to ``url``, ``finish`` where it comes back.

    By default, tokens are verified as those of the client's ``base_url``.
    """

    def __init__(self, gatehouse: Gatehouse, verifier: Optional[TokenVerifier] = None) -> None:
        self._gatehouse = gatehouse
        self._verifier = verifier or TokenVerifier(issuer=gatehouse.base_url)

    def start(self, request: SignInRequest, **options: Unpack[CallOptions]) -> StartedSignInStep:
        started = self._gatehouse.auth.authorize(request, **options)
        return StartedSignInStep(started["authorization_url"], started["state"])

    def finish(
        self,
        *,
        callback: str,
        state: Optional[str],
        customer_id: Optional[str] = None,
        **options: Unpack[CallOptions],
    ) -> SignedIn:
        """Exchanges the code for tokens, and verifies the access token.

        ``callback`` is the URL to which the browser came back, or its query; ``state`` is what ``start`` returned, from the
        browser's session. With ``customer_id``, a code for another customer is refused.

        Raises ``SignInError`` if the browser did not come from a sign-in that it started, or the sign-in was refused;
        ``TokenError`` if there are no keys, before the code is used; ``UnverifiedTokensError`` if the access token is not
        valid, or its key cannot be fetched.
        """
        body: CodeExchange = {"code": code_of(callback, state), "state": state or ""}
        if customer_id is not None:
            body["customer_id"] = customer_id
        self._verifier.load_keys()
        return self._verified(self._gatehouse.auth.exchange(body, **options))

    def refresh(self, refresh_token: str, **options: Unpack[CallOptions]) -> SignedIn:
        """A new pair of tokens. The old refresh token is used up.

        Raises ``TokenError`` if there are no keys, before the refresh token is used; ``UnverifiedTokensError`` if the access
        token is not valid, or its key cannot be fetched.
        """
        self._verifier.load_keys()
        return self._verified(self._gatehouse.auth.refresh({"refresh_token": refresh_token}, **options))

    def _verified(self, tokens: Tokens) -> SignedIn:
        try:
            return SignedIn(tokens, self._verifier.verify(tokens["access_token"]))
        except TokenError as error:
            raise UnverifiedTokensError(tokens, error) from error
