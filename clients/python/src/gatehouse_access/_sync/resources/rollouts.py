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
        ListRolloutsQuery,
        NewRollout,
        Rollout,
        RolloutAbort,
        RolloutProgress,
    )


class Rollouts:
    """The gradual activation of a version of a policy set."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def get(self, name: str, **options: Unpack[CallOptions]) -> RolloutProgress:
        """Read the rollout of a policy set, with what gateways report about it."""
        answer: RolloutProgress = self._transport.data("GET", path("/policy-sets/{}/rollout", name), options=options)
        return answer

    def list(self, name: str, query: Optional[ListRolloutsQuery] = None, **options: Unpack[CallOptions]) -> Pager[Rollout]:
        """List the rollouts of a policy set."""
        return Pager(self._transport, path("/policy-sets/{}/rollouts", name), query, options)

    def start(self, name: str, body: NewRollout, **options: Unpack[CallOptions]) -> Rollout:
        """Start a rollout, or change the terms of the one that runs."""
        answer: Rollout = self._transport.data("POST", path("/policy-sets/{}/rollout", name), body=body, options=options)
        return answer

    def promote(self, name: str, **options: Unpack[CallOptions]) -> Rollout:
        """Make the candidate the active version."""
        answer: Rollout = self._transport.data("POST", path("/policy-sets/{}/rollout/promote", name), options=options)
        return answer

    def abort(self, name: str, body: Optional[RolloutAbort] = None, **options: Unpack[CallOptions]) -> Rollout:
        """Take the candidate back."""
        answer: Rollout = self._transport.data("POST", path("/policy-sets/{}/rollout/abort", name), body=body, options=options)
        return answer
