from __future__ import annotations

from typing import Optional, TYPE_CHECKING

from ..._path import path
from ..pages import AsyncPager
from ..transport import AsyncTransport

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..._options import CallOptions
    from ...api import (
        ListRolloutsQuery,
        NewRollout,
        Rollout,
        RolloutAbort,
        RolloutProgress,
    )


class AsyncRollouts:
    """The gradual activation of a version of a policy set."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def get(self, name: str, **options: Unpack[CallOptions]) -> RolloutProgress:
        """Read the rollout of a policy set, with what gateways report about it."""
        answer: RolloutProgress = await self._transport.data("GET", path("/policy-sets/{}/rollout", name), options=options)
        return answer

    def list(self, name: str, query: Optional[ListRolloutsQuery] = None, **options: Unpack[CallOptions]) -> AsyncPager[Rollout]:
        """List the rollouts of a policy set."""
        return AsyncPager(self._transport, path("/policy-sets/{}/rollouts", name), query, options)

    async def start(self, name: str, body: NewRollout, **options: Unpack[CallOptions]) -> Rollout:
        """Start a rollout, or change the terms of the one that runs."""
        answer: Rollout = await self._transport.data("POST", path("/policy-sets/{}/rollout", name), body=body, options=options)
        return answer

    async def promote(self, name: str, **options: Unpack[CallOptions]) -> Rollout:
        """Make the candidate the active version."""
        answer: Rollout = await self._transport.data("POST", path("/policy-sets/{}/rollout/promote", name), options=options)
        return answer

    async def abort(self, name: str, body: Optional[RolloutAbort] = None, **options: Unpack[CallOptions]) -> Rollout:
        """Take the candidate back."""
        answer: Rollout = await self._transport.data("POST", path("/policy-sets/{}/rollout/abort", name), body=body, options=options)
        return answer
