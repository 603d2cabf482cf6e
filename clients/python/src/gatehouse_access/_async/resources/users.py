from __future__ import annotations

from typing import Optional, TYPE_CHECKING

from ..._path import path
from ..pages import AsyncPager
from ..transport import AsyncTransport

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..._options import CallOptions
    from ...api import (
        DeletedUser,
        ListUsersOfCustomerQuery,
        ListUsersQuery,
        NewUser,
        User,
        UserExport,
        UserPatch,
        UserUpdate,
    )


class AsyncUsers:
    """The customers' users."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    def list(self, query: Optional[ListUsersQuery] = None, **options: Unpack[CallOptions]) -> AsyncPager[User]:
        """List users."""
        return AsyncPager(self._transport, path("/users"), query, options)

    def list_of_customer(self, customer_id: str, query: Optional[ListUsersOfCustomerQuery] = None, **options: Unpack[CallOptions]) -> AsyncPager[User]:
        """List the users of a customer."""
        return AsyncPager(self._transport, path("/customers/{}/users", customer_id), query, options)

    async def create(self, customer_id: str, body: NewUser, **options: Unpack[CallOptions]) -> User:
        """Add a user before their first sign-in."""
        answer: User = await self._transport.data("POST", path("/customers/{}/users", customer_id), body=body, options=options)
        return answer

    async def get(self, user_id: str, **options: Unpack[CallOptions]) -> User:
        """Read a user."""
        answer: User = await self._transport.data("GET", path("/users/{}", user_id), options=options)
        return answer

    async def update(self, user_id: str, body: UserPatch, **options: Unpack[CallOptions]) -> User:
        """Change a user's status or some attributes. Maps such as metadata are merged: `None` removes a name."""
        answer: User = await self._transport.data("PATCH", path("/users/{}", user_id), body=body, options=options)
        return answer

    async def put(self, user_id: str, body: UserUpdate, **options: Unpack[CallOptions]) -> User:
        """Change a user's status or attributes: maps such as metadata are replaced, not merged."""
        answer: User = await self._transport.data("PUT", path("/users/{}", user_id), body=body, options=options)
        return answer

    async def delete(self, user_id: str, **options: Unpack[CallOptions]) -> DeletedUser:
        """Delete a user."""
        answer: DeletedUser = await self._transport.data("DELETE", path("/users/{}", user_id), options=options)
        return answer

    async def export(self, user_id: str, **options: Unpack[CallOptions]) -> UserExport:
        """Export all data about a user."""
        answer: UserExport = await self._transport.data("GET", path("/users/{}/export", user_id), options=options)
        return answer
