"""Prints, as JSON, the methods of the client for Python, and the routes that it calls: each method is called once."""

import inspect
import json

import httpx

from gatehouse_access import ERROR_CODES, AsyncGatehouse, EventStream, Gatehouse, Pager

seen = []


def answer(request):
    seen.append([request.method, request.url.path])
    data = {"events": [], "cursor": "c"} if request.url.path == "/v1/events" else []
    return httpx.Response(200, json={"success": True, "data": data, "meta": {"request_id": "req_1"}})


def methods_of(client):
    for name, resource in vars(client).items():
        if name.startswith("_") or type(resource).__module__.split(".")[0] != "gatehouse_access":
            continue
        for _, method in inspect.getmembers(resource, inspect.ismethod):
            if not method.__name__.startswith("_"):
                yield f"{name}.{method.__name__}", method


transport = httpx.MockTransport(answer)
client = Gatehouse(
    api_key="gh_test_1", environment="sandbox", http_client=httpx.Client(transport=transport)
)
async_client = AsyncGatehouse(
    api_key="gh_test_1", environment="sandbox", http_client=httpx.AsyncClient(transport=transport)
)
for _, method in methods_of(client):
    parameters = inspect.signature(method).parameters.values()
    required = [one for one in parameters if one.default is one.empty and one.kind is one.POSITIONAL_OR_KEYWORD]
    result = method(*({} if one.name == "body" else "x" for one in required))
    if isinstance(result, Pager):
        result.page()
    elif isinstance(result, EventStream):
        next(result)
methods = {
    "sync": sorted(name for name, _ in methods_of(client)),
    "async": sorted(name for name, _ in methods_of(async_client)),
}
print(json.dumps({"routes": seen, "methods": methods, "codes": ERROR_CODES}))
