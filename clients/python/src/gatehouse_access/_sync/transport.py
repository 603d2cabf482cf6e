# Made from _async: see clients/README.md.
from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Mapping, Optional

import httpx

from .._checks import check_number
from .._limit import TimeLimit
from .._request import (
    MAX_BODY_BYTES,
    Answer,
    Received,
    Settings,
    content_of,
    delay_of,
    headers_of,
    is_transient,
    query_of,
    read,
)
from ..errors import DeadlineExceededError, GatehouseError, NetworkError

if TYPE_CHECKING:
    from .._options import CallOptions
    from .._response import ApiResponse


class Transport:
    """Sends requests, and sends them again where that may help."""

    def __init__(self, settings: Settings, client: httpx.Client) -> None:
        self._settings = settings
        self._client = client
        self.last_response: Optional[ApiResponse] = None

    def data(
        self,
        method: str,
        path: str,
        *,
        options: CallOptions,
        body: object = None,
        query: Optional[Mapping[str, object]] = None,
        if_none_match: Optional[str] = None,
        server_wait: float = 0.0,
    ) -> Any:
        """The content of the response alone."""
        answer = self.request(
            method,
            path,
            options=options,
            body=body,
            query=query,
            if_none_match=if_none_match,
            server_wait=server_wait,
        )
        return answer.data

    def request(
        self,
        method: str,
        path: str,
        *,
        options: CallOptions,
        body: object = None,
        query: Optional[Mapping[str, object]] = None,
        if_none_match: Optional[str] = None,
        server_wait: float = 0.0,
    ) -> Answer:
        timeout = check_number("timeout", options.get("timeout", self._settings.timeout))
        retries = check_number("max_retries", options.get("max_retries", self._settings.max_retries))
        deadline = time.monotonic() + timeout
        headers = headers_of(self._settings, method, body, if_none_match, options)
        content = content_of(body)
        attempt = 0
        while True:
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                raise DeadlineExceededError(f"no response within {timeout} s")
            limit = min(remaining, self._settings.attempt_timeout + server_wait)
            failure: GatehouseError
            wanted: Optional[float] = None
            try:
                received = self._attempt(method, path, query_of(query), headers, content, limit)
            except (httpx.TransportError, httpx.DecodingError) as error:
                if time.monotonic() >= deadline:
                    raise DeadlineExceededError(f"no response within {timeout} s") from error
                failure = NetworkError(f"{method} {path}: no response")
                failure.__cause__ = error
            else:
                answer, told, response = read(received, attempt + 1, if_none_match)
                self.last_response = response
                if "on_response" in options:
                    options["on_response"](response)
                if answer is not None:
                    return answer
                assert told is not None
                if not is_transient(told):
                    raise told
                failure, wanted = told, told.retry_after
            pause = delay_of(attempt, wanted)
            # what the server asks for does not fit, or nobody wants another attempt
            if attempt >= retries or time.monotonic() + pause >= deadline:
                raise failure
            time.sleep(pause)
            attempt += 1

    def _attempt(
        self,
        method: str,
        path: str,
        query: Mapping[str, str],
        headers: Mapping[str, str],
        content: Optional[bytes],
        limit: float,
    ) -> Received:
        url = f"{self._settings.base_url}/v1{path}"
        chunks: list[bytes] = []
        # a redirect would carry the key to another address
        with TimeLimit(limit) as total:
            with self._client.stream(
                method,
                url,
                params=query,
                headers=headers,
                content=content,
                timeout=limit,
                follow_redirects=False,
            ) as response:
                total.watch(response)
                size = 0
                for chunk in response.iter_bytes():
                    chunks.append(chunk)
                    size += len(chunk)
                    if size > MAX_BODY_BYTES:
                        # not one of the API, and it would be as long the next time
                        return Received(response.status_code, response.headers, b"")
        return Received(response.status_code, response.headers, b"".join(chunks))

    def close(self) -> None:
        self._client.close()
