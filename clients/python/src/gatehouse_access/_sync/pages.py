# Made from _async: see clients/README.md.
from __future__ import annotations

from typing import TYPE_CHECKING, Iterator, Generic, Mapping, Optional, Sequence, TypeVar, cast

from .._request import unreadable
from .transport import Transport

if TYPE_CHECKING:
    from .._options import CallOptions
    from .._response import ApiResponse
    from ..api import Pagination

T = TypeVar("T")


class Page(Generic[T]):
    """One page of a list."""

    def __init__(
        self,
        pager: Pager[T],
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

    def next(self) -> Optional[Page[T]]:
        """The next page; none after the last one."""
        return None if self._next_query is None else self._pager.read(self._next_query)


class Pager(Generic[T]):
    """A list that is not yet requested: iterate over every item of every page, or read one ``page()``."""

    def __init__(
        self,
        transport: Transport,
        path: str,
        query: Optional[Mapping[str, object]],
        options: CallOptions,
    ) -> None:
        self._transport = transport
        self._path = path
        self._query: Mapping[str, object] = query or {}
        self._options = options

    def page(self) -> Page[T]:
        """The first page."""
        return self.read(self._query)

    def __iter__(self) -> Iterator[T]:
        return self._items()

    def _items(self) -> Iterator[T]:
        for page in self.pages():
            for item in page.data:
                yield item

    def pages(self) -> Iterator[Page[T]]:
        page: Optional[Page[T]] = self.page()
        while page is not None:
            yield page
            page = page.next()

    def read(self, query: Mapping[str, object]) -> Page[T]:
        answer = self._transport.request("GET", self._path, query=query, options=self._options)
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
        return Page(self, data, pagination, answer.response, following)
