from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Optional

from .._checks import check_number
from .._follow import (
    SHORTEST_PAUSE,
    EventBatch,
    FollowOptions,
    call_options_of,
    feed_of,
    pause_after,
    pause_before_retry,
)
from .._stop import AsyncStop
from ..errors import GatehouseError
from .transport import AsyncTransport

if TYPE_CHECKING:
    from ..api import EventFeed, GetEventFeedQuery


class AsyncEventStream:
    """Every event from a cursor on, in batches, without an end.

    It ends when its context is left, or by ``aclose()`` from elsewhere. After an error, the next batch is that after the last
    one: nothing is skipped. It is for one consumer.
    """

    def __init__(
        self, transport: AsyncTransport, query: Optional[GetEventFeedQuery], options: FollowOptions
    ) -> None:
        self._transport = transport
        self._query: GetEventFeedQuery = {**query} if query is not None else {}
        self._options = call_options_of(options)
        self._on_retry = options.get("on_retry")
        self._poll = check_number("poll", options.get("poll", 5.0))
        self._stop = AsyncStop()
        self._pause = 0.0
        self._idle = 0

    def __aiter__(self) -> AsyncEventStream:
        return self

    async def __anext__(self) -> EventBatch:
        await self._stop.wait(self._pause)
        self._pause = SHORTEST_PAUSE
        failures = 0
        while not self._stop.is_set:
            try:
                feed = await self._read()
            except GatehouseError as error:
                pause = pause_before_retry(error, failures)
                if self._on_retry is not None:
                    self._on_retry(error)
                await self._stop.wait(pause)
                failures += 1
                continue
            if self._stop.is_set:
                break
            self._idle = 0 if feed["events"] else self._idle + 1
            self._pause = pause_after(feed, self._query.get("after"), self._idle, self._poll)
            self._query["after"] = feed["cursor"]
            return EventBatch(feed["events"], feed["cursor"])
        raise StopAsyncIteration

    async def _read(self) -> EventFeed:
        answer = await self._transport.request("GET", "/events", query=self._query, options=self._options)
        return feed_of(answer)

    async def aclose(self) -> None:
        """Ends it: at once if it waits, else after the response that it waits for."""
        self._stop.set()

    async def __aenter__(self) -> AsyncEventStream:
        return self

    async def __aexit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        await self.aclose()
