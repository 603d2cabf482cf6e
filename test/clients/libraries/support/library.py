"""What the client for Python does when things go wrong. Prints the names of the checks that passed, as JSON.

The first argument is the URL of an issuer of tokens, the second a good token of it, the third one for another audience.
"""

import asyncio
import json
import math
import os
import pickle
import socket
import subprocess
import sys
import tempfile
import threading
import time

import httpx

from gatehouse_access import (
    AsyncGatehouse,
    AsyncTokenVerifier,
    AuthenticationError,
    ConfigurationError,
    CursorExpiredError,
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
from gatehouse_access._response import retry_after_of
from gatehouse_access.testing import FakeGatehouse

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


def refused(code):
    return {"success": False, "error": {"code": code, "message": "m", "details": {}}, "meta": {"request_id": "req_1"}}


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
def a_response_that_decodes_to_nothing():
    """Its bytes come quickly, and none of them is one of the body."""

    def serve(listener):
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                try:
                    connection.recv(65536)
                    connection.sendall(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-encoding: gzip\r\n\r\n")
                    connection.sendall(b"\x1f\x8b\x08\0\0\0\0\0\0\x03")
                    while True:
                        # empty blocks (RFC 1951, section 3.2.4)
                        connection.sendall(b"\0\0\0\xff\xff" * 10)
                        time.sleep(0.01)
                except OSError:
                    pass

    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = threading.Thread(target=serve, args=(listener,), daemon=True)
        server.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        options = {"environment": "sandbox", "base_urls": {"sandbox": url}, "max_retries": 0}
        with Gatehouse(api_key="gh_test_1", **options) as client:
            raises(DeadlineExceededError, client.customers.get, "x", timeout=0.5)

        async def main():
            async with AsyncGatehouse(api_key="gh_test_1", **options) as client:
                try:
                    await client.customers.get("x", timeout=0.5)
                except DeadlineExceededError:
                    return
                raise AssertionError("it waited")

        asyncio.run(main())


@check
def a_broken_cryptography_is_as_good_as_none():
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "cryptography"))
        with open(os.path.join(folder, "cryptography", "__init__.py"), "w") as file:
            file.write("class PanicException(BaseException):\n    pass\nraise PanicException('no _cffi_backend')\n")
        path = os.pathsep.join([folder, *sys.path])
        script = "from gatehouse_access import _es256; print(_es256.IS_FAST)"
        found = subprocess.run(
            [sys.executable, "-c", script], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True
        )
        assert found.stdout == "False\n", found.stderr


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


@check
def secrets_of_webhooks():
    for wrong in ([], [""], ["good", "\ud800"], [None], None, [7], 7):
        raises(ConfigurationError, verify_webhook, body="", headers={}, secrets=wrong)


@check
def retry_after():
    now = 1772366400.0  # 2026-03-01T12:00:00Z
    known = {
        "0": 0.0,
        "7": 7.0,
        "1000000000": 1e9,
        "Sun, 01 Mar 2026 12:00:30 GMT": 30.0,
        "Sunday, 01-Mar-26 12:00:30 GMT": 30.0,
        "Sun Mar  1 12:00:30 2026": 30.0,
        "Sun, 01 Mar 2026 11:00:00 GMT": 0.0,
    }
    assert {header: retry_after_of(header, now) for header in known} == known
    for wrong in ("-5", "1e9", "5.5", "soon", "", "Fri, 99 Dec 2026 23:59:59 GMT"):
        assert retry_after_of(wrong, now) is None, wrong


@check
def a_consumer_that_crashes():
    """It begins at the cursor that it stored, and gets again what it had not handled."""
    fake = FakeGatehouse()
    ids = [fake.add_event("policy.violated", {"reason": "x"}) for _ in range(7)]
    handled, stored = [], []

    def consume(crashes):
        query = {"limit": 3, **({"after": stored[-1]} if stored else {})}
        with fake.client().events.follow(query) as batches:
            for batch in batches:
                if crashes and stored:
                    raise RuntimeError("crash")
                handled.extend(event["id"] for event in batch.events)
                stored.append(batch.cursor)
                if len(handled) >= len(ids):
                    return

    raises(RuntimeError, consume, True)
    assert handled == ids[:3]
    consume(False)
    assert handled == ids


@check
def the_feed_goes_on_after_an_error():
    fake = FakeGatehouse()
    stream = fake.client().events.follow(poll=0.0)
    next(stream)
    fake.expire_events()
    raises(CursorExpiredError, next, stream)
    keys = iter([401, 401, 200])

    def answer(request):
        return fake.handle(request) if next(keys) == 200 else httpx.Response(401, json=refused("API_KEY_EXPIRED"))

    identifier = fake.add_event("policy.violated")
    stream = answering(answer).events.follow(poll=0.0)
    raises(AuthenticationError, next, stream)
    raises(AuthenticationError, next, stream)
    assert [event["id"] for event in next(stream).events] == [identifier]


@check
def the_feed_pauses_at_a_cursor_that_stands_still():
    for cursor, pauses in (("evt_1", True), ("evt_2", False)):
        feed = {"events": [], "cursor": cursor, "more": True}
        stream = answering(of(feed)).events.follow({"after": "evt_1"})
        next(stream)
        assert (stream._pause > 0) is pauses, cursor


@check
def the_feed_ends_from_another_thread():
    fake = FakeGatehouse()
    waiting = threading.Event()

    def answer(request):
        waiting.set()
        return httpx.Response(503, headers={"retry-after": "3000"})

    for transport, first in ((fake.handle, 1), (answer, 0)):
        client = httpx.Client(transport=httpx.MockTransport(transport))
        gatehouse = Gatehouse(api_key="gh_test_1", environment="sandbox", http_client=client)
        stream = gatehouse.events.follow(poll=3000.0)
        found = []
        consumer = threading.Thread(target=lambda: found.extend(stream), daemon=True)
        consumer.start()
        if first == 0:
            assert waiting.wait(60)
        else:
            while not found:
                consumer.join(0.01)
        stream.close()
        consumer.join(60)
        assert not consumer.is_alive() and len(found) == first
        # it stays closed
        assert list(stream) == []


@check
def the_feed_ends_with_its_task():
    async def main():
        asked = asyncio.Event()

        async def hang(request):
            asked.set()
            await asyncio.sleep(3000)

        async def busy(request):
            asked.set()
            return httpx.Response(503, headers={"retry-after": "3000"})

        for answer in (hang, busy):
            asked.clear()
            client = httpx.AsyncClient(transport=httpx.MockTransport(answer))
            gatehouse = AsyncGatehouse(
                api_key="gh_test_1", environment="sandbox", http_client=client, timeout=4000, attempt_timeout=4000
            )
            stream = gatehouse.events.follow()
            consumer = asyncio.ensure_future(stream.__anext__())
            await asked.wait()
            consumer.cancel()
            try:
                await consumer
            except asyncio.CancelledError:
                pass
            else:
                raise AssertionError("it went on")
        # of the one that waits, by itself
        async with gatehouse.events.follow() as stream:
            asked.clear()
            consumer = asyncio.ensure_future(stream.__anext__())
            await asked.wait()
            while gatehouse.last_response is None:
                await asyncio.sleep(0)
            await stream.aclose()
            try:
                await consumer
            except StopAsyncIteration:
                pass
            else:
                raise AssertionError("it went on")
        async with FakeGatehouse().async_client().events.follow(poll=3000.0) as stream:
            found = []
            async for batch in stream:
                found.append(batch)
                await stream.aclose()
            assert len(found) == 1

    asyncio.run(main())


print(json.dumps(passed))
