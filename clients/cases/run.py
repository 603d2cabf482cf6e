"""Runs the shared cases with the library for Python: python run.py <sync|async> <world.json> <cases.json> <real|fake>

Prints a line of JSON for each case: { name, environment, problem }. See clients/cases/README.md.
"""

import asyncio
import dataclasses
import inspect
import json
import re
import secrets
import sys
import threading
import time
import traceback
import urllib.request

import gatehouse_access as library

flavour, world_file, cases_file, mode = sys.argv[1:]
with open(world_file, encoding="utf-8") as file:
    world = json.load(file)
with open(cases_file, encoding="utf-8") as file:
    cases = json.load(file)
is_async = flavour == "async"
# the library has seconds where the cases have milliseconds
SECONDS = {"timeout_ms": "timeout", "attempt_timeout_ms": "attempt_timeout"}


def seconds(options):
    return {SECONDS.get(name, name): value / 1000 if name in SECONDS else value for name, value in options.items()}


async def main():
    for case in cases:
        for environment in case["on"]:
            if (environment == "fake") != (mode == "fake"):
                continue
            problem = None
            try:
                await run_case(case, environment)
            except Exception:  # whatever it is, it is what is told
                problem = traceback.format_exc()
            print(json.dumps({"name": case["name"], "environment": environment, "problem": problem}), flush=True)


async def run_case(case, environment):
    saved = {
        "unique": secrets.token_hex(5),
        "receiver": world["receiver"],
        "issuer": world["environments"].get(environment, {}).get("issuer"),
        "now": int(time.time()),
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
    context = Context(environment, saved)
    if mode == "fake":
        from gatehouse_access.testing import FakeGatehouse

        context.fake = FakeGatehouse()
    else:
        stage("/faults", {"environment": environment, "faults": []})
        stage("/receiver", {})
    for index, step in enumerate(case["steps"], 1):
        try:
            await run_step(resolve(step, saved), context)
        except Exception as error:
            raise RuntimeError(f"step {index} ({json.dumps(step)})") from error


@dataclasses.dataclass
class Context:
    environment: str
    saved: dict
    fake: object = None


async def run_step(step, context):
    until = time.monotonic() + 20
    while True:
        try:
            return await try_step(step, context)
        except Exception:
            if not step.get("eventually") or time.monotonic() > until:
                raise
            await asyncio.sleep(0.1)


async def try_step(step, context):
    if "faults" in step:
        stage("/faults", {"environment": context.environment, "faults": step["faults"]})
    responses = []
    failure = None
    value = None
    try:
        value = plain(await perform(step, context, responses.append))
    except library.GatehouseError as error:
        failure = error
    if "error" in step:
        check_error(failure, step["error"])
    elif failure is not None:
        raise failure
    response = plain(responses[-1]) if responses else None
    if "expect" in step:
        check(value, step["expect"], "result")
    if "response" in step:
        check(response, step["response"], "response")
    if "requests" in step:
        check_requests(step["requests"], context.environment)
    if "save" in step:
        context.saved[step["save"]] = value
    if "save_response" in step:
        context.saved[step["save_response"]] = response


async def perform(step, context, on_response):
    if "call" in step:
        return await call(step, context, on_response)
    if "follow" in step:
        return await follow(step, client_of(step, context))
    if "stage" in step:
        return stage(f"/{step['stage']}", step.get("with", {}))
    if "verify_webhook" in step:
        delivery = dict(step["verify_webhook"])
        if "tolerance_seconds" in delivery:
            delivery["tolerance"] = delivery.pop("tolerance_seconds")
        return library.verify_webhook(**delivery)
    if "verify_token" in step:
        options = dict(step["verify_token"])
        token = options.pop("token")
        return await result_of(verifier_of(**options).verify(token))
    if "start_session" in step:
        return await start_session(step["start_session"], client_of(step, context), context.fake)
    if "sign_in" in step:
        issuer = world["environments"].get(context.environment, {}).get("issuer", "https://issuer.example")
        client = client_of(step, context)
        kind = library.AsyncSignIn if is_async else library.SignIn
        helper = kind(client, verifier_of(issuer=issuer))
        if step["sign_in"] == "finish":
            return await result_of(helper.finish(**step["args"][0]))
        return await result_of(getattr(helper, step["sign_in"])(*step["args"]))
    raise RuntimeError("nothing to do")


async def start_session(wanted, client, fake):
    """In the fake nobody signs in: the user is there, and has a session."""
    person = {"email": wanted["email"], "name": wanted["name"]}
    if fake is not None:
        body = {"subject": wanted["email"], **person}
        user = await result_of(client.users.create(wanted["customer_id"], body))
        return {"user_id": user["id"], "session_id": fake.add_session(user["id"])}
    body = {"customer_id": wanted["customer_id"], "person": person}
    tokens = await result_of(client.sandbox.sign_in(body))
    return {"user_id": tokens["user"]["id"], "session_id": tokens["session"]["id"]}


async def follow(step, client):
    """Follows the feed until so many events were there, one answer at least."""
    events, retried = [], []

    def takes_enough(batch):
        events.extend(batch.events)
        return len(events) >= step["take"]

    options = {"poll": 0.2, "on_retry": lambda error: retried.append(type(error).__name__)}
    cursor = None
    if is_async:
        async with client.events.follow(step["follow"], **options) as stream:
            late = asyncio.get_running_loop().call_later(60, asyncio.current_task().cancel)
            try:
                async for batch in stream:
                    cursor = batch.cursor
                    if takes_enough(batch):
                        break
            finally:
                late.cancel()
    else:
        with client.events.follow(step["follow"], **options) as stream:
            late = threading.Timer(60, stream.close)
            late.daemon = True
            late.start()
            try:
                for batch in stream:
                    cursor = batch.cursor
                    if takes_enough(batch):
                        break
            finally:
                late.cancel()
    return {"events": events, "cursor": cursor, "retried": retried}


def verifier_of(**options):
    return (library.AsyncTokenVerifier if is_async else library.TokenVerifier)(**options)


async def result_of(result):
    return await result if inspect.isawaitable(result) else result


async def call(step, context, on_response):
    client = client_of(step, context)
    resource, method = step["call"].split(".")
    options = seconds(step.get("options", {}))
    result = getattr(getattr(client, resource), method)(*step.get("args", []), on_response=on_response, **options)
    if step.get("all"):
        return [item async for item in result] if is_async else list(result)
    if isinstance(result, (library.Pager, library.AsyncPager)):
        page = await result_of(result.page())
        return {"data": page.data, "pagination": page.pagination}
    return await result_of(result)


def client_of(step, context):
    if context.fake is not None:
        return context.fake.async_client() if is_async else context.fake.client()
    staged = world["environments"][context.environment]
    name = step.get("as", "full")
    session = staged["session"]
    credentials = (
        {"dashboard_session": library.DashboardSession(session["cookie"], session["csrf_token"])}
        if name == "session"
        else {"api_key": staged["keys"].get(name, name)}
    )
    return (library.AsyncGatehouse if is_async else library.Gatehouse)(
        environment=context.environment,
        base_urls={context.environment: staged["url"]},
        **credentials,
        **seconds(step.get("client", {})),
    )


def stage(path, body):
    request = urllib.request.Request(world["stage"] + path, json.dumps(body).encode(), method="POST")
    with urllib.request.urlopen(request) as answer:
        result = json.load(answer)
    if "error" in result:
        raise RuntimeError(f"{path}: {result['error']}")
    return result


def check_requests(expected, environment):
    requests = stage("/requests", {"environment": environment})["requests"]
    if "count" in expected:
        check(len(requests), expected["count"], "requests")
    if expected.get("same_idempotency_key"):
        keys = {request["idempotency_key"] for request in requests}
        assert len(keys) == 1 and None not in keys, f"idempotency keys: {keys}"


def check_error(failure, expected):
    assert failure is not None, "no error"
    rest = dict(expected)
    kind, fields = rest.pop("kind", None), rest.pop("fields", None)
    if kind is not None:
        assert isinstance(failure, getattr(library, kind)), f"{failure!r} is not {kind}"
    members = ("code", "status", "details", "reason")
    check({name: getattr(failure, name, None) for name in members}, rest, "error")
    if "status" in rest:
        assert failure.request_id is not None, "no request id"
    if fields is not None:
        check(sorted(field["path"] for field in failure.fields), fields, "fields")


def plain(value):
    return dataclasses.asdict(value) if dataclasses.is_dataclass(value) else value


def resolve(value, saved):
    """Puts what was saved in the place of `$name.member`; within a longer text, `${name.member}`."""
    if isinstance(value, str):
        whole = re.fullmatch(r"\$([a-z]\w*(?:\.\w+)*)", value)
        if whole:
            return look(whole[1], saved)
        return re.sub(r"\$\{([\w.]+)\}", lambda found: str(look(found[1], saved)), value)
    if isinstance(value, list):
        return [resolve(item, saved) for item in value]
    if isinstance(value, dict):
        return {name: resolve(member, saved) for name, member in value.items()}
    return value


def look(path, saved):
    value = saved
    for name in path.split("."):
        value = value[int(name)] if isinstance(value, list) else value[name]
    return value


def check(actual, expected, where):
    """An object must have the members that are expected, with these values; anything else must be equal."""
    told = f"{where} is {actual!r}, not {expected!r}"
    if isinstance(expected, list):
        assert isinstance(actual, (list, tuple)) and len(actual) == len(expected), told
        for index, item in enumerate(expected):
            check(actual[index], item, f"{where}.{index}")
    elif isinstance(expected, dict):
        if "$length" in expected:
            check(len(actual), expected["$length"], f"{where}.length")
        elif "$present" in expected:
            assert (actual is not None) == expected["$present"], told
        elif "$distinct" in expected:
            assert len({one[expected["$distinct"]] for one in actual}) == len(actual), told
        elif "$includes" in expected:
            assert any(fits(one, expected["$includes"]) for one in actual), told
        elif "$matches" in expected:
            assert re.search(expected["$matches"], actual), told
        else:
            assert isinstance(actual, dict), told
            for name, member in expected.items():
                check(actual.get(name), member, f"{where}.{name}")
    else:
        assert actual == expected, told


def fits(actual, expected):
    try:
        check(actual, expected, "an item")
    except AssertionError:
        return False
    return True


asyncio.run(main())
