from __future__ import annotations

import time
from types import TracebackType
from typing import Optional

import anyio
import httpx


class TimeLimit:
    """How long a request may take. The limits of httpx are for each step; this one is asked after each chunk of the body."""

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds

    def check(self) -> None:
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


class AsyncTimeLimit(TimeLimit):
    """The same for all of the request: connecting, and a response that comes byte by byte."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self._scope = anyio.CancelScope(deadline=anyio.current_time() + seconds)

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
