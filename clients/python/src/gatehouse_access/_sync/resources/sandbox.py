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
        DeletedSandboxPerson,
        ListPeopleQuery,
        NewSandboxPerson,
        SandboxContents,
        SandboxPerson,
        SandboxSignIn,
        Tokens,
    )


class Sandbox:
    """The people of the sandbox, who need no identity provider."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list_people(self, query: Optional[ListPeopleQuery] = None, **options: Unpack[CallOptions]) -> Pager[SandboxPerson]:
        """List the sandbox's people."""
        return Pager(self._transport, path("/sandbox/people"), query, options)

    def create_person(self, body: NewSandboxPerson, **options: Unpack[CallOptions]) -> SandboxPerson:
        """Add a person."""
        answer: SandboxPerson = self._transport.data("POST", path("/sandbox/people"), body=body, options=options)
        return answer

    def delete_person(self, person_id: str, **options: Unpack[CallOptions]) -> DeletedSandboxPerson:
        """Remove a person."""
        answer: DeletedSandboxPerson = self._transport.data("DELETE", path("/sandbox/people/{}", person_id), options=options)
        return answer

    def sign_in(self, body: SandboxSignIn, **options: Unpack[CallOptions]) -> Tokens:
        """Sign in a person without a browser."""
        answer: Tokens = self._transport.data("POST", path("/sandbox/tokens"), body=body, options=options)
        return answer

    def reset(self, **options: Unpack[CallOptions]) -> SandboxContents:
        """Reset the sandbox."""
        answer: SandboxContents = self._transport.data("POST", path("/sandbox/reset"), options=options)
        return answer
