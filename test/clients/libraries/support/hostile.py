"""Asks a hostile server for each of its answers: python hostile.py <sync|async> <url> <how many calls, by name>

Prints by name, as JSON, the outcomes of `customers.get`, of the first page of `customers.list`, and of `events.follow`.
"""

import asyncio
import inspect
import json
import sys

from gatehouse_access import ApiError, AsyncGatehouse, Gatehouse, GatehouseError, ValidationError

flavour, url, calls = sys.argv[1:]
is_async = flavour == "async"


class Retried(Exception):
    pass


def stop(error):
    raise Retried from error


async def outcome_of(call):
    """The class of the error, and what an error response says."""
    try:
        result = call()
        if inspect.isawaitable(result):
            await result
        return "ok"
    except ApiError as error:
        # whatever the server sent, reading the error does not fail
        if isinstance(error, ValidationError):
            assert isinstance(error.fields, list)
        return f"{type(error).__name__} {error.code} {error.status}"
    except GatehouseError as error:
        return type(error).__name__
    except Retried:
        return "retried"


async def outcomes_of(client, count):
    stream = client.events.follow(on_retry=stop)
    calls = [
        lambda: client.customers.get("cus_1"),
        lambda: client.customers.list(max_retries=0).page(),
        stream.__anext__ if is_async else stream.__next__,
    ]
    return [await outcome_of(call) for call in calls[:count]]


async def main():
    found = {}
    for name, count in json.loads(calls).items():
        options = {"environment": "sandbox", "base_urls": {"sandbox": f"{url}/{name}"}, "max_retries": 1}
        if is_async:
            async with AsyncGatehouse(api_key="gh_test_1", **options) as client:
                found[name] = await outcomes_of(client, count)
        else:
            with Gatehouse(api_key="gh_test_1", **options) as client:
                found[name] = await outcomes_of(client, count)
    print(json.dumps(found))


asyncio.run(main())
