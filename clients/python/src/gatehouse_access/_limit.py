from __future__ import annotations

import time
from types import TracebackType
from typing import Callable, Iterator, Optional, cast

import anyio
import httpx


class TimeLimit:
    """How long a request may take. The limits of httpx are for each step; this one is for all of them."""

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds

    def watch(self, response: httpx.Response) -> None:
        """Makes reading the body fail when the time is over: checked with each part of it, before that is decoded."""
        response.stream = _WatchedStream(cast(httpx.SyncByteStream, response.stream), self._check)

    def _check(self) -> None:
        if not time.monotonic() <= self._until:
            raise httpx.ReadTimeout("the response takes too long")

    def __enter__(self) -> TimeLimit:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        pass


class _WatchedStream(httpx.SyncByteStream):
    def __init__(self, stream: httpx.SyncByteStream, check: Callable[[], None]) -> None:
        self._stream = stream
        self._check = check

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._stream:
            self._check()
            yield chunk

    def close(self) -> None:
        self._stream.close()


class AsyncTimeLimit:
    """The same, and nothing needs to arrive for the time to be over."""

    def __init__(self, seconds: float) -> None:
        self._scope = anyio.CancelScope(deadline=anyio.current_time() + seconds)

    def watch(self, response: httpx.Response) -> None:
        """The scope has the body, too."""

    async def __aenter__(self) -> AsyncTimeLimit:
        self._scope.__enter__()
        return self

    async def __aexit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self._scope.__exit__(kind, error, traceback)
        # what Trio's returns is true without an error, too
        if self._scope.cancelled_caught:
            raise httpx.ReadTimeout("the response takes too long")
