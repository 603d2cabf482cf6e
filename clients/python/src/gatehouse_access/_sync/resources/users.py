# Made from _async: see clients/README.md.
from __future__ import annotations

from typing import Optional, TYPE_CHECKING

from ..._path import path
from ..pages import Pager
from ..transport import Transport

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


class Users:
    """The customers' users."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, query: Optional[ListUsersQuery] = None, **options: Unpack[CallOptions]) -> Pager[User]:
        """List users."""
        return Pager(self._transport, path("/users"), query, options)

    def list_of_customer(self, customer_id: str, query: Optional[ListUsersOfCustomerQuery] = None, **options: Unpack[CallOptions]) -> Pager[User]:
        """List the users of a customer."""
        return Pager(self._transport, path("/customers/{}/users", customer_id), query, options)

    def create(self, customer_id: str, body: NewUser, **options: Unpack[CallOptions]) -> User:
        """Add a user before their first sign-in."""
        answer: User = self._transport.data("POST", path("/customers/{}/users", customer_id), body=body, options=options)
        return answer

    def get(self, user_id: str, **options: Unpack[CallOptions]) -> User:
        """Read a user."""
        answer: User = self._transport.data("GET", path("/users/{}", user_id), options=options)
        return answer

    def update(self, user_id: str, body: UserPatch, **options: Unpack[CallOptions]) -> User:
        """Change a user's status or some attributes. Maps such as metadata are merged: `None` removes a name."""
        answer: User = self._transport.data("PATCH", path("/users/{}", user_id), body=body, options=options)
        return answer

    def put(self, user_id: str, body: UserUpdate, **options: Unpack[CallOptions]) -> User:
        """Change a user's status or attributes: maps such as metadata are replaced, not merged."""
        answer: User = self._transport.data("PUT", path("/users/{}", user_id), body=body, options=options)
        return answer

    def delete(self, user_id: str, **options: Unpack[CallOptions]) -> DeletedUser:
        """Delete a user."""
        answer: DeletedUser = self._transport.data("DELETE", path("/users/{}", user_id), options=options)
        return answer

    def export(self, user_id: str, **options: Unpack[CallOptions]) -> UserExport:
        """Export all data about a user."""
        answer: UserExport = self._transport.data("GET", path("/users/{}/export", user_id), options=options)
        return answer
