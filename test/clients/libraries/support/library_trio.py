"""Uses the asynchronous client for Python with Trio. Arguments: the URL of an issuer of tokens, and a good token of it.

Prints the names of the checks that passed, as JSON.
"""

import json
import sys

import httpx
import trio

from gatehouse_access import AsyncGatehouse, AsyncTokenVerifier, DeadlineExceededError
from gatehouse_access.testing import FakeGatehouse

issuer, good = sys.argv[1:]
passed = []


async def calls():
    async with FakeGatehouse().async_client() as client:
        customer = await client.customers.create({"name": "Acme"})
        assert [one["id"] async for one in client.customers.list()] == [customer["id"]]


async def retries_and_deadlines():
    answers = [503, 503, 200]

    async def answer(request):
        status = answers.pop(0) if answers else None
        if status is None:
            await trio.sleep_forever()
        return httpx.Response(status, json={"success": True, "data": {}})

    client = httpx.AsyncClient(transport=httpx.MockTransport(answer))
    async with AsyncGatehouse(api_key="gh_test_1", environment="sandbox", http_client=client) as gatehouse:
        assert await gatehouse.customers.get("x") == {}
        try:
            await gatehouse.customers.get("x", timeout=0.2)
        except DeadlineExceededError:
            return
        raise AssertionError("it waited")


async def tokens():
    verifier = AsyncTokenVerifier(issuer=issuer)
    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(verifier.verify, good)
    assert (await verifier.verify(good))["sub"] == "usr_1"


async def events():
    fake = FakeGatehouse()
    first = fake.add_event("policy.violated")
    async with fake.async_client() as client, client.events.follow(poll=0.01) as stream:
        assert [event["id"] for event in (await stream.__anext__()).events] == [first]
        with trio.move_on_after(0.05) as scope:
            async for _ in stream:
                pass
        assert scope.cancelled_caught
        # the cancellation has lost nothing
        second = fake.add_event("policy.violated")
        async for batch in stream:
            if batch.events:
                assert [event["id"] for event in batch.events] == [second]
                await stream.aclose()


for check in (calls, retries_and_deadlines, tokens, events):
    trio.run(check)
    passed.append(check.__name__)
print(json.dumps(passed))
