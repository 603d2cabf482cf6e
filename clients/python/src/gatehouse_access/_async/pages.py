from __future__ import annotations

from typing import TYPE_CHECKING, AsyncIterator, Generic, Mapping, Optional, Sequence, TypeVar, cast

from .._request import unreadable
from .transport import AsyncTransport

if TYPE_CHECKING:
    from .._options import CallOptions
    from .._response import ApiResponse
    from ..api import Pagination

T = TypeVar("T")


class AsyncPage(Generic[T]):
    """One page of a list."""

    def __init__(
        self,
        pager: AsyncPager[T],
        data: Sequence[T],
        pagination: Pagination,
        response: ApiResponse,
        next_query: Optional[Mapping[str, object]],
    ) -> None:
        self._pager = pager
        self._next_query = next_query
        self.data = data
        self.pagination = pagination
        self.response = response

    @property
    def has_next(self) -> bool:
        return self._next_query is not None

    async def next(self) -> Optional[AsyncPage[T]]:
        """The next page; none after the last one."""
        return None if self._next_query is None else await self._pager.read(self._next_query)


class AsyncPager(Generic[T]):
    """A list that is not yet requested: iterate over every item of every page, or read one ``page()``."""

    def __init__(
        self,
        transport: AsyncTransport,
        path: str,
        query: Optional[Mapping[str, object]],
        options: CallOptions,
    ) -> None:
        self._transport = transport
        self._path = path
        self._query: Mapping[str, object] = query or {}
        self._options = options

    async def page(self) -> AsyncPage[T]:
        """The first page."""
        return await self.read(self._query)

    def __aiter__(self) -> AsyncIterator[T]:
        return self._items()

    async def _items(self) -> AsyncIterator[T]:
        async for page in self.pages():
            for item in page.data:
                yield item

    async def pages(self) -> AsyncIterator[AsyncPage[T]]:
        page: Optional[AsyncPage[T]] = await self.page()
        while page is not None:
            yield page
            page = await page.next()

    async def read(self, query: Mapping[str, object]) -> AsyncPage[T]:
        answer = await self._transport.request("GET", self._path, query=query, options=self._options)
        if not isinstance(answer.data, list):
            raise unreadable(answer.response)
        data = cast("Sequence[T]", answer.data)
        size = len(data)
        pagination: Pagination = answer.pagination or {
            "current_page": 1,
            "total_pages": 1,
            "total_items": size,
            "page_size": size,
        }
        cursor = answer.response.next_cursor
        following: Optional[Mapping[str, object]] = None
        if cursor is not None:
            # records that arrive meanwhile do not move what follows a cursor
            following = {**{name: value for name, value in query.items() if name != "page"}, "cursor": cursor}
        elif "cursor" not in query and size > 0 and pagination["current_page"] < pagination["total_pages"]:
            following = {**query, "page": pagination["current_page"] + 1}
        return AsyncPage(self, data, pagination, answer.response, following)
