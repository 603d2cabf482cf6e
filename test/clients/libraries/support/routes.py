"""Prints the routes that the client for Python calls, as JSON: each method of each resource is called once."""

import inspect
import json

import httpx

from gatehouse_access import ERROR_CODES, EventStream, Gatehouse, Pager

seen = []


def answer(request):
    seen.append([request.method, request.url.path])
    data = {"events": [], "cursor": "c"} if request.url.path == "/v1/events" else []
    return httpx.Response(200, json={"success": True, "data": data, "meta": {"request_id": "req_1"}})


client = Gatehouse(
    api_key="gh_test_1",
    environment="sandbox",
    http_client=httpx.Client(transport=httpx.MockTransport(answer)),
)
for name, resource in vars(client).items():
    if name.startswith("_") or type(resource).__module__.split(".")[0] != "gatehouse_access":
        continue
    for _, method in inspect.getmembers(resource, inspect.ismethod):
        if method.__name__.startswith("_"):
            continue
        parameters = inspect.signature(method).parameters.values()
        required = [one for one in parameters if one.default is one.empty and one.kind is one.POSITIONAL_OR_KEYWORD]
        result = method(*({} if one.name == "body" else "x" for one in required))
        if isinstance(result, Pager):
            result.page()
        elif isinstance(result, EventStream):
            next(result)
print(json.dumps({"routes": seen, "codes": ERROR_CODES}))
