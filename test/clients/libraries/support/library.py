"""What the client for Python does when things go wrong. Prints the names of the checks that passed, as JSON.

The first argument is the URL of an issuer of tokens, the second a good token of it, the third one for another audience.
"""

import asyncio
import json
import math
import pickle
import sys
import threading

import httpx

from gatehouse_access import (
    AsyncGatehouse,
    AsyncTokenVerifier,
    ConfigurationError,
    DeadlineExceededError,
    Gatehouse,
    GatehouseError,
    NotFoundError,
    SignedIn,
    SignIn,
    StartedSignInStep,
    TokenError,
    TokenVerifier,
    UnverifiedTokensError,
    WebhookVerificationError,
    verify_webhook,
)
from gatehouse_access._identity import Refusal, token_of
from gatehouse_access._keys import KeyCache
from gatehouse_access._request import Settings

issuer, good, other_audience = sys.argv[1:]
passed = []


def check(function):
    function()
    passed.append(function.__name__)


def raises(kind, function, *args, **options):
    try:
        function(*args, **options)
    except kind as error:
        return error
    raise AssertionError(f"{args} {options}: no {kind.__name__}")


def answering(answer, **options):
    client = httpx.Client(transport=httpx.MockTransport(answer))
    return Gatehouse(api_key="gh_test_1", environment="sandbox", http_client=client, max_retries=0, **options)


def of(data):
    return lambda request: httpx.Response(200, json={"success": True, "data": data})


def failing(request):
    return httpx.Response(503)


@check
def no_keys_no_refresh():
    used = []
    gatehouse = answering(lambda request: used.append(request))
    verifier = TokenVerifier(issuer=issuer, http_client=httpx.Client(transport=httpx.MockTransport(failing)))
    sign_in = SignIn(gatehouse, verifier)
    assert raises(TokenError, sign_in.refresh, "rt").code == "KEYS_UNAVAILABLE"
    raises(TokenError, sign_in.finish, callback="?code=c&state=s", state="s")
    assert used == []


@check
def tokens_with_the_error():
    tokens = {"access_token": other_audience, "refresh_token": "rt_new"}
    error = raises(UnverifiedTokensError, SignIn(answering(of(tokens)), TokenVerifier(issuer=issuer)).refresh, "rt")
    assert error.code == "TOKEN_AUDIENCE" and error.tokens == tokens
    assert "rt_new" not in repr(error) + str(error)


@check
def numbers():
    for wrong in (math.nan, -1.0, math.inf, None, "5"):
        for name in ("clock_tolerance", "cache_seconds", "cooldown_seconds"):
            raises(ConfigurationError, TokenVerifier, issuer=issuer, **{name: wrong})
        for name in ("timeout", "attempt_timeout", "max_retries"):
            raises(ConfigurationError, Gatehouse, api_key="gh_test_1", environment="sandbox", **{name: wrong})
        for name in ("timeout", "max_retries"):
            raises(ConfigurationError, answering(of({})).customers.get, "x", **{name: wrong})
        raises(ConfigurationError, verify_webhook, body="", headers={}, secrets="s", tolerance=wrong)
    for wrong in ({"issuer": ""}, {"issuer": issuer, "audience": ""}, {"issuer": None}):
        raises(ConfigurationError, TokenVerifier, **wrong)


@check
def if_match():
    for wrong in (None, ""):
        raises(ConfigurationError, answering(of({})).customers.update, "x", {}, if_match=wrong)


@check
def two_authorization_headers():
    for several in (["", "Bearer x"], ["Bearer x", ""], ["Bearer x", "Bearer x"]):
        assert raises(Refusal, token_of, several, True).code == "TOKEN_MALFORMED"


@check
def keys_after_a_failure():
    cache = KeyCache(300.0, 30.0)
    cache.fail(0.0)
    assert not cache.may_fetch(0.5) and cache.may_fetch(2.0)
    raises(TokenError, cache.find, "a", 0.5)
    cache.succeed(b'{"keys":[]}', 2.0)
    assert not cache.may_fetch(31.0) and cache.may_fetch(32.0)
    assert cache.find("a", 3.0) is None
    cache.fail(40.0)
    assert raises(TokenError, cache.find, "a", 41.0).code == "KEYS_UNAVAILABLE"
    assert cache.usable(3901.0) is not None and cache.usable(3903.0) is None


@check
def old_keys_while_new_ones_come():
    release, asked = threading.Event(), []

    def answer(request):
        asked.append(request)
        if len(asked) > 1:
            release.wait(10)
        return httpx.get(str(request.url))

    client = httpx.Client(transport=httpx.MockTransport(answer))
    verifier = TokenVerifier(issuer=issuer, cache_seconds=0, cooldown_seconds=0, http_client=client)
    for _ in range(3):
        assert verifier.verify(good)["sub"] == "usr_1"
    release.set()


@check
def keys_are_no_more_than_1_mb():
    long = httpx.Client(transport=httpx.MockTransport(lambda request: httpx.Response(200, content=b" " * 1_000_001)))
    assert raises(TokenError, TokenVerifier(issuer=issuer, http_client=long).verify, good).code == "KEYS_UNAVAILABLE"


@check
def a_request_that_is_cancelled():
    async def main():
        asked, release = [], asyncio.Event()

        async def answer(request):
            asked.append(request)
            await release.wait()
            async with httpx.AsyncClient() as client:
                return await client.get(str(request.url))

        client = httpx.AsyncClient(transport=httpx.MockTransport(answer))
        verifier = AsyncTokenVerifier(issuer=issuer, http_client=client)
        first = asyncio.create_task(verifier.verify(good))
        while not asked:
            assert not first.done()
            await asyncio.sleep(0)
        first.cancel()
        second = asyncio.create_task(verifier.verify(good))
        await asyncio.sleep(0)
        release.set()
        assert (await second)["sub"] == "usr_1" and len(asked) == 1

    asyncio.run(main())


@check
def a_response_that_comes_byte_by_byte():
    """Each byte is in time, the response is not."""

    async def drip(reader, writer):
        try:
            for byte in b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n" + b"x" * 5:
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(0.05)
        except (ConnectionError, asyncio.CancelledError):
            pass
        writer.close()

    async def main():
        server = await asyncio.start_server(drip, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        client = AsyncGatehouse(api_key="gh_test_1", environment="sandbox", base_urls={"sandbox": url}, max_retries=0)
        try:
            await client.customers.get("x", timeout=0.5)
        except DeadlineExceededError:
            pass
        else:
            raise AssertionError("it waited")
        await client.aclose()
        server.close()

    asyncio.run(main())


@check
def errors_are_the_librarys():
    missing = {"success": False, "error": {"code": "INVALID_CUSTOMER", "message": "m", "details": {}}, "meta": None}
    error = raises(NotFoundError, answering(lambda _: httpx.Response(404, json=missing)).customers.get, "x")
    again = pickle.loads(pickle.dumps(error))
    assert (again.code, again.status, str(again)) == (error.code, 404, str(error))
    assert pickle.loads(pickle.dumps(TokenError("TOKEN_EXPIRED"))).code == "TOKEN_EXPIRED"
    nested = b"[" * 100_000
    zipped = {"content-encoding": "gzip"}
    for answer in (
        lambda _: httpx.Response(200, content=nested),
        lambda _: httpx.Response(200, headers=zipped, stream=httpx.ByteStream(b"not gzip")),
        lambda _: httpx.Response(404, json={"success": False, "error": {"code": [], "message": 1}}),
    ):
        raises(GatehouseError, answering(answer).customers.get, "x")
    raises(GatehouseError, answering(of({})).customers.create, {"name": math.nan})
    headers = {"webhook-id": "\ud800", "webhook-timestamp": "1", "webhook-signature": "v1,x"}
    raises(WebhookVerificationError, verify_webhook, body="", headers=headers, secrets="s", now=1)


@check
def secrets_are_not_shown():
    shown = [
        SignedIn({"access_token": "secret"}, {}),
        StartedSignInStep("https://idp.example?state=secret", "secret"),
        Settings("https://x.example", {"authorization": "secret"}, 1, 1, 1),
    ]
    assert "secret" not in repr(shown)


print(json.dumps(passed))
