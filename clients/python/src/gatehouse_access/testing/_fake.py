from __future__ import annotations

import json
import re
import time
from typing import Any, Callable, Mapping, Optional
from urllib.parse import unquote

import httpx

from .._async.client import AsyncGatehouse
from .._sync.client import Gatehouse
from ._handlers import Handlers, One, Plain, Request
from ._store import Members, Refused, new_id, selected
from ._validate import DATA, Schema, defaults_of, problems_of

_ROUTES = [
    (name, operation, re.compile("/v1" + re.sub(r"\{\w+\}", "([^/]+)", operation["path"])))
    for name, operation in DATA["operations"].items()
]


class FakeGatehouse:
    """A control plane in memory, for tests of what uses this library.

    It has customers, users, policies and their assignment, sessions, webhooks (which are not delivered), API keys and the feed
    of events, with paging, ETags, idempotency keys and errors as the real one has them. It has no scopes and no rate limits.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._handlers = Handlers(clock)
        self._operations = self._handlers.operations()
        self._answered: dict[str, tuple[str, int, bytes]] = {}

    def client(self) -> Gatehouse:
        """A client of it. All its clients see the same."""
        http_client = httpx.Client(transport=httpx.MockTransport(self.handle))
        return Gatehouse(api_key="gh_test_fake", environment="sandbox", http_client=http_client)

    def async_client(self) -> AsyncGatehouse:
        """The same, asynchronous."""
        http_client = httpx.AsyncClient(transport=httpx.MockTransport(self.handle))
        return AsyncGatehouse(api_key="gh_test_fake", environment="sandbox", http_client=http_client)

    def add_session(self, user_id: str, seconds: float = 43_200.0) -> str:
        """Starts a session of a user, as a sign-in would, and returns its id."""
        sessions = self._handlers.sessions
        user = self._handlers.users.get(user_id)
        row = sessions.insert(
            {
                "id": new_id("ses"),
                "customer_id": user["customer_id"],
                "user_id": user_id,
                "client_id": "key_fake",
                "status": "active",
                "scope": "openid",
                "auth_time": sessions.now(),
                "amr": ["pwd"],
                "acr": None,
                "ip_address": "127.0.0.1",
                "user_agent": "fake",
                "last_used_at": sessions.now(),
                "expires_at": sessions.now(seconds),
                "ended_at": None,
                "end_reason": None,
            }
        )
        return str(row["id"])

    def add_event(
        self,
        kind: str,
        data: Optional[Members] = None,
        *,
        customer_id: Optional[str] = None,
        user_id: Optional[str] = None,
    ) -> str:
        """Adds an event to the feed, beside those of changes (a sign-in, a violation), and returns its id."""
        return self._handlers.feed.add(kind, data or {}, customer_id, user_id)

    def expire_events(self) -> None:
        """Forgets all events: cursors from before are answered with 410 ``CURSOR_EXPIRED``."""
        self._handlers.feed.expire()

    def handle(self, request: httpx.Request) -> httpx.Response:
        """Answers a request, as ``httpx.MockTransport`` asks."""
        try:
            return self._answer(request)
        except Refused as refused:
            error = {"code": refused.code, "message": refused.message, "details": refused.details}
            return httpx.Response(refused.status, json={"success": False, "error": error, "meta": self._meta()})

    def _answer(self, request: httpx.Request) -> httpx.Response:
        path = request.url.raw_path.decode().split("?")[0]
        for name, operation, pattern in _ROUTES:
            found = pattern.fullmatch(path)
            if found and operation["method"] == request.method:
                break
        else:
            raise Refused("NOT_FOUND", {"reason": f"the fake does not have {request.method} {path}"})
        query = _read_query(request.url.params, operation["query"])
        content = request.read()
        key = request.headers.get("idempotency-key") if request.method == "POST" else None
        asked = f"{request.method} {path} {content!r}"
        if key in self._answered:
            before, status, answer = self._answered[key]
            if before != asked:
                raise Refused("IDEMPOTENCY_KEY_REUSED")
            return httpx.Response(status, content=answer)
        ids = [unquote(part) for part in found.groups()]
        body = _read_body(content, operation.get("body"))
        asking = Request(ids, body, request.headers.get("if-match"), query)
        result = self._operations[name](asking)
        headers: dict[str, str] = {}
        status = 200
        if isinstance(result, One):
            status, headers["etag"] = result.status, result.row.etag
            envelope: Members = {"data": {**result.row.data, **(result.shown_once or {})}}
        elif isinstance(result, Plain):
            envelope = {"data": result.data}
        else:
            envelope = selected(result, query)
        if request.method == "GET" and request.headers.get("if-none-match") == headers.get("etag", ""):
            return httpx.Response(304, headers=headers)
        answer = json.dumps({"success": True, **envelope, "meta": self._meta()}).encode()
        if key is not None:
            self._answered[key] = (asked, status, answer)
        return httpx.Response(status, content=answer, headers=headers)

    def _meta(self) -> Members:
        return {"timestamp": self._handlers.customers.now(), "request_id": new_id("req")}


def _read_body(content: bytes, schema: Optional[Schema]) -> Members:
    if schema is None:
        return {}
    body: Any = json.loads(content) if content else {}
    problems = problems_of(body, schema)
    if problems:
        raise Refused("VALIDATION_FAILED", {"fields": problems})
    return {**defaults_of(schema, body), **body}


def _read_query(params: httpx.QueryParams, schemas: Mapping[str, Schema]) -> dict[str, str]:
    for name, text in params.items():
        schema = schemas.get(name)
        is_number = schema is not None and schema.get("type") == "integer" and text.isdigit()
        if schema is None or problems_of(int(text) if is_number else text, schema):
            raise Refused("INVALID_PARAMETER", {"parameter": name})
    defaults = {name: str(schema["default"]) for name, schema in schemas.items() if "default" in schema}
    return {**defaults, **dict(params)}
