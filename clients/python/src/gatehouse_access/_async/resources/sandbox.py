from __future__ import annotations

from typing import Optional, TYPE_CHECKING

from ..._path import path
from ..pages import AsyncPager
from ..transport import AsyncTransport

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..._options import CallOptions
    from ...api import (
        DeletedSandboxPerson,
        ListPeopleQuery,
        NewSandboxPerson,
        SandboxContents,
        SandboxPerson,
        SandboxSignIn,
        Tokens,
    )


class AsyncSandbox:
    """The people of the sandbox, who need no identity provider."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    def list_people(self, query: Optional[ListPeopleQuery] = None, **options: Unpack[CallOptions]) -> AsyncPager[SandboxPerson]:
        """List the sandbox's people."""
        return AsyncPager(self._transport, path("/sandbox/people"), query, options)

    async def create_person(self, body: NewSandboxPerson, **options: Unpack[CallOptions]) -> SandboxPerson:
        """Add a person."""
        answer: SandboxPerson = await self._transport.data("POST", path("/sandbox/people"), body=body, options=options)
        return answer

    async def delete_person(self, person_id: str, **options: Unpack[CallOptions]) -> DeletedSandboxPerson:
        """Remove a person."""
        answer: DeletedSandboxPerson = await self._transport.data("DELETE", path("/sandbox/people/{}", person_id), options=options)
        return answer

    async def sign_in(self, body: SandboxSignIn, **options: Unpack[CallOptions]) -> Tokens:
        """Sign in a person without a browser."""
        answer: Tokens = await self._transport.data("POST", path("/sandbox/tokens"), body=body, options=options)
        return answer

    async def reset(self, **options: Unpack[CallOptions]) -> SandboxContents:
        """Reset the sandbox."""
        answer: SandboxContents = await self._transport.data("POST", path("/sandbox/reset"), options=options)
        return answer
